"""Argo CD's own rules, before merge: parsed documents in, diagnostics out."""

from gitops_gen.controller.check import check_documents
from gitops_gen.controller.documents import Document
from gitops_gen.controller.facts import ArgocdFacts, facts_from

__all__ = ["ArgocdFacts", "Document", "check_documents", "facts_from"]
