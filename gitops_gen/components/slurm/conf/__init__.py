"""Configuration files of Slurm: keywords and values checked, the text that Slurm reads written."""

from gitops_gen.components.slurm.conf.text import Scalar, Value, merge_config, text_of

__all__ = ["Scalar", "Value", "merge_config", "text_of"]
