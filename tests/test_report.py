"""What is printed: text with a caret in the right place, annotations, JSON and SARIF."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable

import pytest

from gitops_gen.diagnostics import Diagnostic, Position, Severity
from gitops_gen.mask import is_secret, mask_address, mask_line
from gitops_gen.report import (
    render_github,
    render_json,
    render_report,
    render_sarif,
    render_text,
    summary,
)

FILE = "clusters/prod/cluster.yaml"
LINE = "      gpu: {model: h10O, count: 8}"


def _fault(**parts: object) -> Diagnostic:
    values: dict[str, object] = {
        "code": "unknown-gpu-model",
        "message": '"h10O" is not a known accelerator',
        "hint": 'did you mean "h100-sxm-80gb"?',
        "path": ("spec", "nodePools", 0, "gpu", "model"),
        "position": Position(file=FILE, line=14, column=20),
        **parts,
    }
    return Diagnostic(**values)  # type: ignore[arg-type]


def _text(line: str, column: int = 1, **parts: object) -> list[str]:
    item = _fault(position=Position(file=FILE, line=1, column=column), **parts)
    return render_text([item], lambda _: line).splitlines()


# --- text --------------------------------------------------------------------------------------


def test_text_shows_place_message_source_caret_and_hint() -> None:
    assert render_text([_fault()], lambda _: LINE) == (
        'clusters/prod/cluster.yaml:14:20: error[unknown-gpu-model]: "h10O" is not a known accelerator\n'
        "        gpu: {model: h10O, count: 8}\n"
        "                     ^\n"
        '  hint: did you mean "h100-sxm-80gb"?\n'
    )


@pytest.mark.parametrize("position", [None, Position(file=FILE, line=0, column=0)])
def test_text_without_a_position_names_the_file(position: Position | None) -> None:
    item = _fault(code="yaml-empty", message="nothing in it", hint="", position=position)
    text = render_text([item], lambda _: "never asked", file=FILE)
    assert text == "clusters/prod/cluster.yaml: error[yaml-empty]: nothing in it\n"


def test_text_without_any_place_begins_with_the_severity() -> None:
    item = _fault(hint="", position=None, severity=Severity.WARNING, message="odd")
    assert render_text([item], lambda _: "") == "warning[unknown-gpu-model]: odd\n"


def test_color_only_adds_escapes() -> None:
    plain = render_text([_fault()], lambda _: LINE)
    colored = render_text([_fault()], lambda _: LINE, True)
    assert "\x1b[1;31merror[unknown-gpu-model]\x1b[0m" in colored
    stripped = colored
    for code in ("1", "1;31", "1;32"):
        stripped = stripped.replace(f"\x1b[{code}m", "")
    assert stripped.replace("\x1b[0m", "") == plain


def test_caret_stays_below_its_column_after_tabs_and_wide_characters() -> None:
    line = "\tname: 한국어, x: 1"
    _, source, caret, _ = _text(line, column=line.index(",") + 1)
    assert source == f"  {line}"
    width = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in "name: 한국어")
    assert caret == "  \t" + " " * width + "^"


def test_combining_characters_take_no_room() -> None:
    _, _, caret, _ = _text("e\N{COMBINING ACUTE ACCENT}: x", column=5)
    assert caret == "  " + "   ^"


def test_long_line_is_shortened_around_the_column() -> None:
    line = "a" * 300 + "X" + "b" * 300
    _, source, caret, _ = _text(line, column=301)
    assert source.startswith("  …a")
    assert source.endswith("b…")
    assert len(source) == 2 + 1 + 100 + 1
    assert source[caret.index("^")] == "X"


def test_column_beyond_the_line_stands_at_its_end() -> None:
    _, _, caret, _ = _text("key:", column=40)
    assert caret == "  " + "    ^"


def test_empty_source_line_is_left_out() -> None:
    assert len(_text("   ")) == 2


def test_control_characters_cannot_reach_the_terminal() -> None:
    text = render_text([_fault(message="\x1b[2Jgone")], lambda _: "a\x1b[31mb\x07")
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\N{REPLACEMENT CHARACTER}[2Jgone" in text


def test_secrets_in_the_source_line_are_masked() -> None:
    _, source, caret, _ = _text("  password: hunter2", column=13)
    assert source == "    password: *******"
    assert source[caret.index("^")] == "*"


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("password: hunter2 # note", "password: ******* # note"),
        ("auth: {user: a, password: 'x, y', key: b}", "auth: {user: a, password: ******, key: b}"),
        ("auth: {token: abc, key: b}", "auth: {token: ***, key: b}"),
        ("clientSecret: one, two", "clientSecret: ********"),
        ('"api_key": "a\\"b"', '"api_key": ******'),
        ("- {name: DB_PASSWORD, value: s3cret}", "- {name: DB_PASSWORD, value: ******}"),
        ("http: http://user:pw@proxy.example.com", "http: http://*******@proxy.example.com"),
        (
            "repoURL: https://ghp_abc@git.example.com/x",
            "repoURL: https://*******@git.example.com/x",
        ),
        ("https: user:pw@proxy.example.com", "https: user:**@proxy.example.com"),
        ("repoURL: https://h/x?private_token=abc&b=c", "repoURL: https://h/x?private_token=***&b=c"),
        ("adminPassword: [hunter2, b]", "adminPassword: ************"),
        ("a: {token: {b: hunter2}}", "a: {token: *************"),
    ],
)
def test_what_may_be_a_secret_is_masked(line: str, masked: str) -> None:
    assert mask_line(line) == masked
    assert len(masked) == len(line)


@pytest.mark.parametrize(
    "line",
    [
        "secretRef: {name: slurm-auth, key: slurm.key}",
        "passwordRef: {name: db, key: password}",
        "secrets: {store: existing}",
        "secretName: kubeflow-tls",
        "pullSecrets: [registry-pull]",
        "bindPW: $LDAP_BIND_PW",
        "keyTemplate: '{cluster}/{name}'",
        "repoURL: ssh://git@git.example.com/clusters.git",
        "repoURL: git@git.example.com:platform/clusters.git",
        "tokenKey: idp",
        "existingSecret: grafana-admin",
        "image: registry.example.com/driver:580@sha256:00",
    ],
)
def test_references_to_secrets_stay_readable(line: str) -> None:
    assert mask_line(line) == line


def test_secret_keys_are_told_from_references() -> None:
    assert [key for key in ("bindPW", "DB_PASSWORD", "clientSecret", "token") if not is_secret(key)] == []
    assert [key for key in ("secretRef", "secretName", "keys", "tokenUrl") if is_secret(key)] == []


def test_addresses_lose_their_credentials() -> None:
    assert mask_address("http://u:p@h:3128 ssh://git@h") == "http://***@h:3128 ssh://git@h"


def test_a_line_below_a_secret_key_is_masked() -> None:
    path = ("spec", "components", "monitoring", "values", "adminPassword", 0)
    assert _text("  - hunter2", column=5, path=path)[1] == "    * *******"
    beside = ("spec", "secrets", "store")
    assert _text("  store: vault", column=10, path=beside)[1] == "    store: vault"


@pytest.mark.parametrize("form", [render_json, render_github, render_sarif])
def test_no_form_prints_credentials(form: Callable[..., str]) -> None:
    address = "http://user:hunter2@proxy.example.com"
    fault = _fault(message=f'"{address}" is odd', hint=f"write {address}", path=("spec", address))
    assert "hunter2" not in form([fault])
    assert "hunter2" not in render_text([fault], lambda _: f"http: {address}")


# --- summary -----------------------------------------------------------------------------------


def test_summary_counts_by_severity() -> None:
    severities = [Severity.ERROR, Severity.WARNING, Severity.ERROR, Severity.NOTICE]
    assert summary(_fault(severity=item) for item in severities) == "2 errors, 1 warning, 1 notice"
    assert summary([_fault(severity=Severity.WARNING)] * 2) == "2 warnings"
    assert summary([]) == "no findings"


# --- other forms -------------------------------------------------------------------------------


def test_json_holds_every_part() -> None:
    assert json.loads(render_json([_fault()])) == {
        "diagnostics": [
            {
                "code": "unknown-gpu-model",
                "severity": "error",
                "message": '"h10O" is not a known accelerator',
                "hint": 'did you mean "h100-sxm-80gb"?',
                "path": "spec.nodePools[0].gpu.model",
                "file": FILE,
                "line": 14,
                "column": 20,
            }
        ],
        "summary": {"errors": 1, "warnings": 0, "notices": 0},
    }
    bare = json.loads(render_json([_fault(position=None)]))["diagnostics"][0]
    assert (bare["file"], bare["line"], bare["column"]) == (None, None, None)


def test_github_annotation_escapes_what_its_syntax_uses() -> None:
    item = _fault(
        severity=Severity.WARNING,
        message="100%: one, two\nthree",
        position=Position(file="a,b:c.yaml", line=3, column=4),
    )
    assert render_github([item]) == (
        "::warning file=a%2Cb%3Ac.yaml,line=3,col=4,title=unknown-gpu-model::"
        '100%25: one, two%0Athree%0Ahint: did you mean "h100-sxm-80gb"?\n'
    )


def test_github_annotation_without_a_position_names_only_the_file() -> None:
    item = _fault(position=None, severity=Severity.NOTICE, hint="")
    assert render_github([item], file=FILE) == (
        f'::notice file={FILE},title=unknown-gpu-model::"h10O" is not a known accelerator\n'
    )


def test_sarif_has_rules_levels_and_relative_addresses() -> None:
    notice = _fault(
        code="superseded-version", severity=Severity.NOTICE, hint="", message="old", position=None
    )
    odd = _fault(position=Position(file="my clusters/ü.yaml", line=1, column=2))
    log = json.loads(render_sarif([_fault(), notice, odd], file=FILE))
    run = log["runs"][0]
    assert log["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "superseded-version",
        "unknown-gpu-model",
    ]
    first, second, third = run["results"]
    assert (first["ruleId"], first["ruleIndex"], first["level"]) == (
        "unknown-gpu-model",
        1,
        "error",
    )
    assert first["message"]["text"] == (
        '"h10O" is not a known accelerator\nhint: did you mean "h100-sxm-80gb"?'
    )
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": FILE},
                "region": {"startLine": 14, "startColumn": 20},
            }
        }
    ]
    assert second["level"] == "note"
    assert second["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": FILE}}}]
    place = third["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "my%20clusters/%C3%BC.yaml"


def test_each_form_is_what_its_own_function_makes() -> None:
    found = [_fault()]

    def line(position: Position) -> str:
        return LINE

    assert render_report("text", found, line) == render_text(found, line)
    assert render_report("json", found, line) == render_json(found)
    assert render_report("github", found, line) == render_github(found)
    assert render_report("sarif", found, line) == render_sarif(found)
