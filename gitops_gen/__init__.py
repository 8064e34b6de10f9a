"""gitops-gen: one validated cluster spec in, a Git tree that Argo CD syncs out."""

__version__ = "0.1.0"
