"""The commands as a user runs them: what they print, what they write and how they end."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitops_gen.cli.main import main
from tests.specs import POOL, spec_text


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Git work tree with one cluster, as the current folder."""
    (tmp_path / ".git").mkdir()
    spec = tmp_path / "clusters/test/cluster.yaml"
    spec.parent.mkdir(parents=True)
    spec.write_text(spec_text(), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["gitops-gen", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return Ended(int(ended.value.code or 0), printed.out, printed.err)

    return call


def files(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_render_writes_the_tree_beside_the_spec_and_then_nothing(repo: Path, run: Run) -> None:
    assert run("render") == Ended(0, "", "clusters/test/rendered: 13 new\n")
    assert run("render") == Ended(0, "", "clusters/test/rendered: unchanged\n")
    assert run("render", "--check").status == 0


def test_check_lists_every_difference_and_writes_nothing(repo: Path, run: Run) -> None:
    run("render")
    tree = repo / "clusters/test/rendered"
    spec = repo / "clusters/test/cluster.yaml"
    spec.write_text(spec_text("argocd: {prune: false}"), encoding="utf-8")
    (tree / "apps/gpu/gpu-operator/values.yaml").unlink()
    before = files(tree)
    ended = run("render", "--check")
    assert ended.status == 4
    assert "clusters/test/rendered/apps/gpu/gpu-operator/values.yaml: missing\n" in ended.out
    assert "clusters/test/rendered/bootstrap/root.yaml: differs\n" in ended.out
    assert files(tree) == before


def test_hand_edit_stops_the_write_and_force_overwrites(repo: Path, run: Run) -> None:
    run("render")
    edited = repo / "clusters/test/rendered/README.md"
    text = edited.read_text(encoding="utf-8")
    edited.write_text("mine", encoding="utf-8")
    ended = run("render")
    assert ended.status == 3
    assert "clusters/test/rendered/README.md: error[hand-edited-file]" in ended.err
    assert edited.read_text(encoding="utf-8") == "mine"
    assert run("render", "--force").status == 0
    assert edited.read_text(encoding="utf-8") == text


def test_output_holds_the_same_bytes_under_the_clusters_name(repo: Path, run: Run) -> None:
    run("render")
    assert run("render", "--output", "build").status == 0
    assert files(repo / "build/test") == files(repo / "clusters/test/rendered")


def test_switched_off_component_leaves_the_tree(repo: Path, run: Run) -> None:
    spec = repo / "clusters/test/cluster.yaml"
    both = spec_text(components="gpuOperator: {enabled: true}\ncertManager: {enabled: true}")
    spec.write_text(both, encoding="utf-8")
    run("render")
    assert (repo / "clusters/test/rendered/apps/platform/cert-manager").is_dir()
    spec.write_text(spec_text(), encoding="utf-8")
    assert run("render").status == 3
    off = spec_text(components="gpuOperator: {enabled: true}\ncertManager: {enabled: false}")
    spec.write_text(off, encoding="utf-8")
    assert run("render").status == 0
    assert not (repo / "clusters/test/rendered/apps/platform/cert-manager").exists()
    spec.write_text(spec_text(), encoding="utf-8")
    assert run("render").status == 0


def test_adding_a_component_touches_only_its_own_files(repo: Path, run: Run) -> None:
    run("render")
    before = files(repo / "clusters/test/rendered")
    both = spec_text(components="gpuOperator: {enabled: true}\ncertManager: {enabled: true}")
    (repo / "clusters/test/cluster.yaml").write_text(both, encoding="utf-8")
    run("render")
    after = files(repo / "clusters/test/rendered")
    changed = {name for name in before if before[name] != after.get(name)}
    assert changed == {".gitops-gen.lock", "README.md", "apps/project.yaml"}


def test_invalid_spec_writes_nothing_and_ends_with_3(repo: Path, run: Run) -> None:
    (repo / "clusters/test/cluster.yaml").write_text("kind: Cluster\nkind: Cluster\n", encoding="utf-8")
    ended = run("render")
    assert ended.status == 3
    assert ended.err.startswith("clusters/test/cluster.yaml:2:1: error[yaml-duplicate-key]:")
    assert not (repo / "clusters/test/rendered").exists()


def test_several_specs_render_side_by_side_to_the_same_bytes(repo: Path, run: Run) -> None:
    for index in range(4):
        spec = repo / f"clusters/c{index}/cluster.yaml"
        spec.parent.mkdir()
        spec.write_text(spec_text().replace("name: test", f"name: c{index}"), encoding="utf-8")
    assert run("render", "--jobs", "2").status == 0
    assert run("render", "--output", "alone").status == 0
    for index in range(4):
        assert files(repo / f"clusters/c{index}/rendered") == files(repo / f"alone/c{index}")


def test_specs_of_one_name_are_refused_before_anything_is_written(repo: Path, run: Run) -> None:
    twin = repo / "clusters/twin/cluster.yaml"
    twin.parent.mkdir()
    twin.write_text(spec_text(), encoding="utf-8")
    ended = run("render")
    assert ended.status == 3
    assert 'cluster name "test" stands in 2 specs' in ended.err
    assert not (repo / "clusters/test/rendered").exists()


@pytest.mark.parametrize("name", ["test-root", "test-stack-gpu"])
def test_names_that_another_cluster_gives_its_own_objects_are_refused(
    repo: Path, run: Run, name: str
) -> None:
    twin = repo / "clusters/twin/cluster.yaml"
    twin.parent.mkdir()
    twin.write_text(spec_text().replace("name: test", f"name: {name}"), encoding="utf-8")
    ended = run("validate")
    assert ended.status == 3
    assert f'cluster name "{name}" is also what cluster "test" calls its own objects' in ended.out


def test_warnings_become_errors_with_strict(repo: Path, run: Run) -> None:
    text = spec_text(components="gpuOperator: {enabled: true, values: {devicePlugin: {mps: {root: /x}}}}")
    (repo / "clusters/test/cluster.yaml").write_text(text, encoding="utf-8")
    assert run("validate").status == 0
    ended = run("validate", "--strict")
    assert ended.status == 3
    assert "error[dead-values-key]" in ended.out
    assert run("render", "--strict").status == 3


def test_accepted_warning_is_silent_and_stands_in_the_readme(repo: Path, run: Run) -> None:
    accept = (
        "accept: [{code: dead-values-key, path: spec.components.gpuOperator.values.devicePlugin.mps.root, "
        "reason: kept for the next chart}]"
    )
    text = spec_text(
        accept, components="gpuOperator: {enabled: true, values: {devicePlugin: {mps: {root: /x}}}}"
    )
    (repo / "clusters/test/cluster.yaml").write_text(text, encoding="utf-8")
    assert run("validate", "--strict").status == 0
    run("render")
    readme = (repo / "clusters/test/rendered/README.md").read_text(encoding="utf-8")
    assert "kept for the next chart" in readme


@pytest.mark.parametrize("form", ["json", "github", "sarif"])
def test_findings_come_in_every_form(repo: Path, run: Run, form: str) -> None:
    (repo / "clusters/test/cluster.yaml").write_text("kind: Cluster\nkind: Cluster\n", encoding="utf-8")
    ended = run("validate", "--format", form)
    assert ended.status == 3
    assert "yaml-duplicate-key" in ended.out
    if form != "github":
        json.loads(ended.out)


def test_plan_says_what_nodes_advertise(repo: Path, run: Run) -> None:
    plan = json.loads(run("plan", "clusters/test", "--format", "json").out)
    assert plan["pools"] == [
        {
            "name": "h100",
            "nodes": 2,
            "use": "kubernetes",
            "resources": {"nvidia.com/gpu": 8},
            "labels": {},
            "labelCommand": None,
        }
    ]
    assert [app["name"] for app in plan["applications"]] == ["gpu-operator", "namespaces"]


def test_why_leads_to_the_line_of_the_spec(repo: Path, run: Run) -> None:
    text = spec_text(components="gpuOperator: {enabled: true, values: {operator: {logging: {level: debug}}}}")
    (repo / "clusters/test/cluster.yaml").write_text(text, encoding="utf-8")
    line = 1 + next(index for index, line in enumerate(text.splitlines()) if "level: debug" in line)
    ended = run("why", "clusters/test", "gpu-operator:operator.logging")
    assert ended == Ended(
        0,
        'operator.logging.level = "debug"\n'
        f"    spec: clusters/test/cluster.yaml:{line} "
        "spec.components.gpuOperator.values.operator.logging.level\n",
        "",
    )


def test_why_explains_applications_too(repo: Path, run: Run) -> None:
    rows = json.loads(
        run("why", "clusters/test", "test-gpu-operator:application.spec.project", "--format", "json").out
    )
    assert rows == [
        {
            "path": "application.spec.project",
            "value": "test",
            "because": ["spec: clusters/test/cluster.yaml:4 metadata.name"],
        }
    ]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nosuch", "no app 'nosuch'; there are: gpu-operator, namespaces"),
        ("gpu-operator:driver.verson", "gpu-operator does not set 'driver.verson'"),
        ("gpu-operator:a[", "not a values path"),
    ],
)
def test_why_says_what_there_is_not(repo: Path, run: Run, target: str, message: str) -> None:
    ended = run("why", "clusters/test", target)
    assert ended.status == 2
    assert message in " ".join(ended.err.split())


def test_explain_documents_a_field_and_suggests_the_nearest(repo: Path, run: Run) -> None:
    ended = run("explain", "nodePools.gpu.model")
    assert ended.status == 0
    assert "accelerator" in ended.out.lower()
    assert run("explain", "nodePools.gpus").status == 2


def test_explain_lists_values_and_every_level_below(repo: Path, run: Run) -> None:
    flat = run("explain", "nodePools.fabric").out
    assert "rdma          string (required): sharedDevice | hostDevice | sriov\n" in flat
    assert "network.subnet" not in flat
    deep = run("explain", "nodePools.fabric", "--recursive").out
    assert "network.subnet" in deep
    assert re.search(r"network\.perNodeBlockSize +integer, default 32\n", deep)


def test_schema_is_the_published_one(repo: Path, run: Run) -> None:
    published = Path(__file__).parents[1] / "schemas/cluster.schema.json"
    printed = json.loads(run("schema").out)
    printed.pop("$comment", None)
    known = json.loads(published.read_text(encoding="utf-8"))
    known.pop("$comment", None)
    assert printed == known


def test_catalog_lists_components_and_accelerators(repo: Path, run: Run) -> None:
    data = json.loads(run("catalog", "--format", "json").out)
    gpu = next(item for item in data["components"] if item["name"] == "gpuOperator")
    assert list(gpu["versions"]) == ["v26.7.0", "v26.3.3", "v25.10.1"]
    a100 = next(item for item in data["accelerators"] if item["id"] == "a100-sxm-80gb")
    assert a100["migProfiles"]["1g.10gb"] == 7
    assert "a100-sxm-80gb" in run("catalog").out


def test_init_writes_a_spec_that_renders(repo: Path, run: Run) -> None:
    assert run("init", "clusters/lab/cluster.yaml", "--gpu", "l4", "--distribution", "k3s").status == 0
    first = (repo / "clusters/lab/cluster.yaml").read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=../../.gitops-gen/cluster.schema.json"
    assert (repo / ".gitops-gen/cluster.schema.json").is_file()
    assert run("render", "clusters/lab").status == 0
    ended = run("init", "clusters/lab/cluster.yaml")
    assert ended.status == 3
    assert "exists already" in ended.err


@pytest.mark.parametrize(
    ("option", "value"), [("--gpu", "h10O"), ("--distribution", "k3d"), ("--name", "Not_A_Name")]
)
def test_init_refuses_what_could_not_be_rendered(repo: Path, run: Run, option: str, value: str) -> None:
    ended = run("init", "clusters/lab/cluster.yaml", option, value)
    assert ended.status == 2
    assert value in ended.err
    assert not (repo / "clusters/lab/cluster.yaml").exists()


def test_doctor_says_what_is_there(repo: Path, run: Run) -> None:
    ended = run("doctor")
    assert ended.status == 0
    assert "gitops-gen 0.1.0" in ended.out
    assert "git" in ended.out


def test_wrong_command_line_ends_with_2(repo: Path, run: Run) -> None:
    assert run("render", "--no-such-option").status == 2
    assert run("validate", "--format", "xml").status == 2


def test_missing_spec_is_named(repo: Path, run: Run) -> None:
    ended = run("validate", "nosuch.yaml")
    assert ended.status == 3
    assert "no such file or folder: nosuch.yaml" in ended.err


# --- trees that stand in each other's way --------------------------------------------------------


def _clusters(repo: Path, **paths: str) -> None:
    for name, path in paths.items():
        text = spec_text(f"gitops: {{repoURL: 'https://git.example.com/x.git', path: {path}}}")
        folder = repo / "clusters" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cluster.yaml").write_text(text.replace("name: test", f"name: {name}"), encoding="utf-8")


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("trees/x", "the folder of its tree is that of clusters/test/cluster.yaml, too"),
        ("trees/x/apps", "its tree lies inside the tree of clusters/test/cluster.yaml"),
    ],
)
@pytest.mark.parametrize("command", ["validate", "render"])
def test_clusters_never_share_a_folder(repo: Path, run: Run, second: str, said: str, command: str) -> None:
    _clusters(repo, test="trees/x", twin=second)
    ended = run(command)
    assert ended.status == 3
    assert f"clusters/twin/cluster.yaml: error[tree-collision]: {said}" in ended.out + ended.err
    assert not (repo / "trees").exists()


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("trees/x", "trees/x: error[tree-taken]: this folder holds the tree of clusters/test/cluster.yaml"),
        ("trees/x/deep", "trees/x/deep: error[tree-taken]: this folder lies inside the tree trees/x"),
        ("trees", "trees: error[tree-taken]: another tree lies inside this folder: trees/x"),
    ],
)
def test_a_tree_of_another_run_is_never_taken_over(repo: Path, run: Run, second: str, said: str) -> None:
    _clusters(repo, test="trees/x", twin=second)
    assert run("render", "clusters/test").status == 0
    before = files(repo / "trees")
    ended = run("render", "clusters/twin", "--force")
    assert ended.status == 3
    assert said in ended.err
    assert files(repo / "trees") == before


def test_a_spec_that_moved_keeps_its_tree(repo: Path, run: Run) -> None:
    _clusters(repo, test="trees/x")
    run("render")
    (repo / "clusters/test").rename(repo / "clusters/moved")
    assert run("render").status == 0


@pytest.mark.parametrize("lock", [b"[]", b'{"spec": []}', b'{"state": {"a": 1}}', b"\xff"])
def test_a_lock_of_another_shape_is_a_broken_lock(repo: Path, run: Run, lock: bytes) -> None:
    run("render")
    (repo / "clusters/test/rendered/.gitops-gen.lock").write_bytes(lock)
    assert run("validate").status == 0
    assert run("render").status == 3
    assert run("render", "--force").status == 0


def test_a_chart_version_that_is_none_is_as_good_as_unknown(repo: Path, run: Run) -> None:
    run("render")
    lock = repo / "clusters/test/rendered/.gitops-gen.lock"
    text = lock.read_text(encoding="utf-8")
    charts = json.loads(text)["charts"]
    lock.write_text(text.replace(f'"{charts["gpu-operator"]}"', '"newest"', 1), encoding="utf-8")
    assert run("render").status == 0


def test_folders_that_no_command_line_takes_need_a_path(repo: Path, run: Run) -> None:
    odd = repo / "clusters/it's"
    (repo / "clusters/test").rename(odd)
    assert "error[tree-path-unusable]" in run("validate").out
    _clusters(repo, **{"it's": "trees/test"})
    odd.joinpath("cluster.yaml").write_text(
        odd.joinpath("cluster.yaml").read_text(encoding="utf-8").replace("name: it's", "name: its"), "utf-8"
    )
    assert run("render").status == 0


# --- files and streams that do not behave --------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda base: base.symlink_to("/etc/hostname"), "it leads outside the repository"),
        (os.mkfifo, "it is not a regular file"),
        (lambda base: base.mkdir(), "Is a directory"),
        (lambda base: base.symlink_to("base.yaml"), "Too many levels of symbolic links"),
    ],
)
def test_a_base_is_a_file_of_the_repository(
    repo: Path, run: Run, make: Callable[[Path], None], reason: str
) -> None:
    spec = repo / "clusters/test/cluster.yaml"
    make(spec.with_name("base.yaml"))
    spec.write_text(f"extends: [base.yaml]\n{spec_text()}", encoding="utf-8")
    ended = run("validate")
    assert ended.status == 3
    assert f'clusters/test/cluster.yaml:1:11: error[extends-missing]: cannot read "base.yaml": {reason}' in (
        ended.out
    )


def test_a_spec_that_leads_to_itself_is_named(repo: Path, run: Run) -> None:
    loop = repo / "clusters/loop/cluster.yaml"
    loop.parent.mkdir()
    loop.symlink_to("cluster.yaml")
    ended = run("validate")
    assert ended.status == 3
    assert (
        "clusters/loop/cluster.yaml: error[no-spec]: this file cannot be read: Too many levels" in ended.out
    )


def test_what_is_neither_file_nor_folder_is_no_spec(repo: Path, run: Run) -> None:
    os.mkfifo(repo / "pipe")
    assert "neither a file nor a folder: pipe" in run("validate", "pipe").err


def _process(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    code = "from gitops_gen.cli.main import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONUTF8": "0"}
    extra = options.pop("environment", {})
    assert isinstance(extra, dict)
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-c", code, *arguments],
        stderr=subprocess.PIPE,
        env={**environment, **extra},
        **options,
    )


def test_a_reader_that_has_gone_away_is_no_fault(repo: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    ended = _process("schema", stdout=write)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_ends_with_5(repo: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = _process("schema", stdout=full)
    said = b"gitops-gen: the output cannot be read or written: No space left on device\n"
    assert (ended.returncode, ended.stderr) == (5, said)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("form", ["text", "json", "github", "sarif"])
def test_findings_are_printed_in_every_encoding(repo: Path, encoding: str, form: str) -> None:
    text = spec_text().replace("name: test", 'name: "é日"')
    (repo / "clusters/test/cluster.yaml").write_text(text, encoding="utf-8")
    ended = _process(
        "validate", "--format", form, stdout=subprocess.PIPE, environment={"PYTHONIOENCODING": encoding}
    )
    assert ended.returncode == 3
    assert b"Traceback" not in ended.stderr
    if form in ("json", "sarif"):
        json.loads(ended.stdout.decode("utf-8" if encoding == "ascii" else encoding))


@pytest.mark.parametrize(
    "values",
    [
        "{toolkit: {env: [a, {name: [b]}, {name: TOKEN, value: [hunter2]}]}}",
        "{devicePlugin: {config: {default: [a], data: {b: c}}}}",
        '{"[]": 1, "a\\"b": 1, "": 1}',
        "{driver: [], toolkit: 1, devicePlugin: {config: {data: [1]}}, migManager: {config: {name: {}}}}",
    ],
)
def test_raw_values_of_any_shape_are_answered_with_words(repo: Path, run: Run, values: str) -> None:
    text = spec_text(components=f"gpuOperator: {{enabled: true, values: {values}}}")
    (repo / "clusters/test/cluster.yaml").write_text(text, encoding="utf-8")
    ended = run("validate", "--format", "json")
    assert "hunter2" not in ended.out
    assert ended.status in (0, 3)


def test_init_says_what_the_disk_refuses(repo: Path, run: Run) -> None:
    (repo / "file").write_text("", encoding="utf-8")
    ended = run("init", "file/below/cluster.yaml")
    assert ended == Ended(5, "", "gitops-gen: file/below cannot be read or written: Not a directory\n")


def test_facts_of_an_unknown_version_are_missed_where_it_is_provided_too(repo: Path, run: Run) -> None:
    text = spec_text(components="gpuOperator: {provided: true, version: v0.1.0}")
    (repo / "clusters/test/cluster.yaml").write_text(text, encoding="utf-8")
    ended = run("validate")
    assert ended.status == 3
    assert 'error[unknown-version]: gpuOperator version "v0.1.0" is not known' in ended.out


def test_marked_folders_are_left_out_of_the_search(repo: Path, run: Run) -> None:
    case = repo / "cases/one/cluster.yaml"
    case.parent.mkdir(parents=True)
    case.write_text("no: spec", encoding="utf-8")
    assert run("validate").status == 3
    (repo / "cases/.gitops-gen-ignore").write_text("", encoding="utf-8")
    assert run("validate").status == 0
    assert run("validate", "cases/one/cluster.yaml").status == 3


def test_paths_outside_of_git_are_explained(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "run `git init`" in run("init", "lab/cluster.yaml").err
    assert "run `git init`" in run("render", "lab").err


@pytest.mark.parametrize(
    "text",
    [
        spec_text(components="gpuOperator: {enabled: true, values: {devicePlugin: {mps: {root: /x}}}}"),
        spec_text(pools=POOL + "  use: slurm\n"),
    ],
)
def test_warning_shows_the_entry_that_accepts_it(repo: Path, run: Run, text: str) -> None:
    spec = repo / "clusters/test/cluster.yaml"
    spec.write_text(text, encoding="utf-8")
    shown = next(line for line in run("validate").out.splitlines() if line.startswith("  accept: "))
    entry = shown.removeprefix("  accept: ").replace("…", "known")
    spec.write_text(text.replace("spec:\n", f"spec:\n  accept: [{entry}]\n", 1), encoding="utf-8")
    assert run("validate", "--strict") == Ended(0, "", "the spec is valid\n")


def test_why_takes_names_of_clusters_and_components(repo: Path, run: Run) -> None:
    by_path = run("why", "clusters/test", "gpu-operator:operator")
    assert by_path.status == 0
    assert run("why", "test", "gpuOperator:operator") == by_path
    assert run("plan", "test").out == run("plan", "clusters/test").out


def test_why_explains_the_application_of_a_chart_without_values(repo: Path, run: Run) -> None:
    """The chart of the CRDs takes none: what there is to ask is why, where and at which version."""
    spec = repo / "clusters/test/cluster.yaml"
    spec.write_text(spec_text(components="mariadbOperator: {enabled: true}"), encoding="utf-8")
    ended = run("why", "clusters/test", "mariadb-operator-crds")
    assert ended.out == run("why", "clusters/test", "mariadb-operator-crds:application").out
    assert (
        'application.spec.destination.namespace = "mariadb-operator"\n'
        "    default: spec.components.mariadbOperator.namespace\n"
    ) in ended.out
    assert "    default: spec.components.mariadbOperator.version\n" in ended.out
    ended = run("why", "clusters/test", "mariadb-operator-crds:a.key")
    assert (ended.status, "mariadb-operator-crds does not set 'a.key'" in ended.err) == (2, True)


def test_why_says_when_the_charts_default_applies(repo: Path, run: Run) -> None:
    assert run("why", "test", "gpu-operator:driver.rdma.enabled").out == (
        "driver.rdma.enabled = false\n    chart: default of gpu-operator v26.7.0; this tree does not set it\n"
    )


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        ("git@git.example.org:team/clusters.git", "git@git.example.org:team/clusters.git"),
        ("https://user:token@git.example.org/team/c.git", "https://git.example.org/team/c.git"),
        ("/srv/git/clusters.git", "https://git.example.com/platform/clusters.git"),
    ],
)
def test_init_takes_the_remote_of_the_work_tree(repo: Path, run: Run, remote: str, url: str) -> None:
    config = f'[core]\n\tbare = false\n[remote "up"]\n\turl = x\n[remote "origin"]\n\turl = {remote}\n'
    (repo / ".git/config").write_text(config, encoding="utf-8")
    assert run("init", "clusters/lab/cluster.yaml", "--env", "lab").status == 0
    text = (repo / "clusters/lab/cluster.yaml").read_text(encoding="utf-8")
    assert f"repoURL: {url}\n" in text
    assert "env: lab\n" in text


def test_fault_of_a_base_is_printed_once(repo: Path, run: Run) -> None:
    (repo / "base.yaml").write_text("spec: {kubernetes: {distribution: k8s}}\n", encoding="utf-8")
    for name in ("a", "b"):
        spec = repo / f"clusters/{name}/cluster.yaml"
        spec.parent.mkdir()
        text = spec_text('kubernetes: {version: "1.35"}').replace("name: test", f"name: {name}")
        spec.write_text(f"extends: [../../base.yaml]\n{text}", encoding="utf-8")
    assert run("validate").out.count("base.yaml:1:") == 1


def test_base_alone_is_checked_with_nothing_required(repo: Path, run: Run) -> None:
    base = repo / "base.yaml"
    base.write_text(
        "apiVersion: gitops-gen/v1alpha1\nkind: ClusterBase\nspec: {env: staging}\n", encoding="utf-8"
    )
    assert run("validate", "base.yaml") == Ended(0, "", "the spec is valid\n")
    base.write_text(
        "apiVersion: gitops-gen/v1alpha1\nkind: ClusterBase\nspec: {env: stagin}\n", encoding="utf-8"
    )
    ended = run("validate", "base.yaml")
    assert ended.status == 3
    assert "base.yaml:3:13: error[unknown-value]" in ended.out
    assert run("render", "base.yaml").status == 3
