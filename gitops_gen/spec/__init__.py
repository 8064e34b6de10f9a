"""The cluster spec: from the text of YAML files to a validated, typed ClusterSpec."""
