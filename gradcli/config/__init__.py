"""Configuration: `[tool.gradcli]` of pyproject.toml, or gradcli.toml."""
