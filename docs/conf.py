"""Sphinx configuration: `make docs` builds the site from these pages and from the docstrings of the packages."""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
HIDDEN = {"kernels", "experiments", "studio"}
PACKAGES = ["pokernets", "poker", "data_gen", "models"]

project = "pokernets"
html_title = "pokernets"
html_theme = "furo"
html_copy_source = False
extensions = ["myst_parser", "autoapi.extension", "sphinx.ext.napoleon"]
exclude_patterns = ["reference/api/index.rst", "agent.ipynb"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "autoapi.python_import_resolution", "ref.python"]

autoapi_dirs = [f"../{package}" for package in PACKAGES]
autoapi_ignore = [f"*/{room}/*" for room in HIDDEN]
autoapi_root = "reference/api"
autoapi_options = ["members", "undoc-members", "show-module-summary"]
autoapi_python_class_content = "both"
napoleon_use_ivar = True
autoapi_add_toctree_entry = False
autoapi_member_order = "groupwise"


def link_sources(app: Any, page: str, source: list[str]) -> None:
    """Turn links to modules into links to their reference pages, and add a toctree to the list of results.

    On the code host the same links lead to the files. Sphinx offers other files of the repository as downloads.
    """
    if page.startswith("reference/api"):
        return
    folder = (ROOT / "docs" / page).parent

    def target(link: re.Match[str]) -> str:
        file = (folder / link[2]).resolve().relative_to(ROOT)
        if file.parts[0] in PACKAGES and not HIDDEN & set(file.parts):
            return f"[{link[1]}](/reference/api/{file.with_suffix('')}/index.rst)"
        return f"`{link[1]}`" if (ROOT / file).is_dir() else link[0]

    source[0] = re.sub(r"\[([^\]]*)\]\((\.\.?/[^)#]*)\)", target, source[0])
    if page == "results":
        pages = re.findall(r"\((results/\w+/README)\.md\)", source[0])
        source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n"


def collapse_navigation(_app: Any, _page: str, _template: str, context: dict[str, Any], _doctree: Any) -> None:
    """Show only the branch of the current page in the sidebar.

    With the whole tree of the Python reference on each of 340 pages, the theme takes most of the time of a build.
    """
    if toctree := context.get("toctree"):
        context["toctree"] = lambda **options: toctree(**{**options, "collapse": True})


def setup(app: Any) -> None:
    """Connect the events of Sphinx that read and write a page."""
    app.connect("source-read", link_sources)
    app.connect("html-page-context", collapse_navigation, priority=400)  # before the theme's own handler
