"""A hook of mkdocs (mkdocs.yml): lets the pages link to files outside docs, as they have to in the repository.

Those files become part of the site, and their links are checked as well.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

# Paths in the repository, and their places in the site. There, README.md would be a second index.
OUTSIDE = {
    "README.md": "overview.md",
    "ARCHITECTURE.md": "ARCHITECTURE.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "LICENSE": "LICENSE",
    "openapi.yaml": "openapi.yaml",
}
IN_SITE = {site: repository for repository, site in OUTSIDE.items()}


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    root = Path(config.config_file_path).parent
    for repository, site in OUTSIDE.items():
        files.append(File.generated(config, site, abs_src_path=str(root / repository)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    here = page.file.src_uri
    folder = posixpath.dirname(IN_SITE.get(here, posixpath.join("docs", here)))

    def in_site(link: re.Match[str]) -> str:
        path, anchor = link.groups()
        repository = posixpath.normpath(posixpath.join(folder, path))
        site = OUTSIDE.get(repository) or (repository.startswith("docs/") and repository.removeprefix("docs/"))
        return f"]({posixpath.relpath(site, posixpath.dirname(here) or '.')}{anchor})" if site else link.group()

    markdown = re.sub(r"\]\((?![a-z]+:|#|/)([^)#\s]+)((?:#[^)\s]*)?)\)", in_site, markdown)
    # The name of a terminal behind ```console is for scripts/readme-test; Python-Markdown would not take it for a fence.
    return re.sub(r"^(```console) .*$", r"\1", markdown, flags=re.MULTILINE)
