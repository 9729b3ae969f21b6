"""What MkDocs does not know of this repository: links out of docs/, and notebooks as pages."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import nbformat
from mkdocs.structure.files import File
from nbclient import NotebookClient
from traitlets.config import Config

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

LINK = re.compile(r"\]\((?P<target>[^):#\s]+)")
"""A link to a file of the repository."""

COPIES = "repository"
"""The site's folder with the files outside docs/ that pages link to."""

SHOWN = ("image/svg+xml", "text/html", "text/plain")
"""Kinds of output of a notebook's cell, the best first."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add notebooks as pages, and the files outside docs/ that pages link to."""
    docs = Path(config.docs_dir)
    for notebook in sorted(docs.glob("examples/*.ipynb")):
        for uri, content in page_of(notebook, docs):
            files.append(File.generated(config, uri, content=content))
    for path in sorted({path for file in files.documentation_pages() for path in outside(file)}):
        source = docs.parent / path
        if not source.is_file():
            raise FileNotFoundError(f"{path}: a page links to it, and it is no file here")
        files.append(File.generated(config, f"{COPIES}/{path}", abs_src_path=str(source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Turn links to what MkDocs has elsewhere into links to there."""

    def there(found: re.Match[str]) -> str:
        target = found["target"]
        path = outside_docs(target, page.file.src_uri)
        if path is not None:
            up = "../" * page.file.src_uri.count("/")
            return f"]({up}{COPIES}/{path}"
        return f"]({target.removesuffix('.ipynb')}.md" if target.endswith(".ipynb") else found[0]

    return LINK.sub(there, markdown)


def outside(file: File) -> Iterator[str]:
    """Yield the files outside docs/ that a page links to, by their paths in the repository."""
    for target in LINK.findall(file.content_string):
        path = outside_docs(target, file.src_uri)
        if path is not None:
            yield path


def outside_docs(target: str, page: str) -> str | None:
    """Return the path in the repository of what a page links to; None if that is in docs/."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    return path.removeprefix("../") if path.startswith("../") else None


def page_of(notebook: Path, docs: Path) -> Iterator[tuple[str, str]]:
    """Execute a notebook in the repository's root; yield its page and pictures, by their URIs."""
    found = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    # Over sockets of this user's: a kernel on TCP would take code from others on the machine.
    # In a folder of their own: by default two kernels at a time would have the same.
    with TemporaryDirectory(prefix="pathscope-kernel-") as place:
        sockets = {"transport": "ipc", "ip": f"{place}/kernel"}
        config = Config({"KernelManager": sockets})
        where = {"metadata": {"path": str(docs.parent)}}
        NotebookClient(found, kernel_name="python3", config=config, resources=where).execute()
    name = str(notebook.relative_to(docs).with_suffix(""))
    parts: list[str] = []
    for number, cell in enumerate(found.cells):
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            kind, content = best(output)
            if kind == "image/svg+xml":
                picture = f"{name}-{number}.svg"
                yield picture, content
                parts.append(f"![What the cell above draws]({posixpath.basename(picture)})")
            else:
                parts.append(plain(content) if kind == "text/html" else f"```text\n{content}\n```")
    yield f"{name}.md", "\n\n".join(parts)


def plain(table: str) -> str:
    """Return a table of pandas without a look of its own, so that it has the site's."""
    own = r"<style.*?</style>| border=.1. class=.dataframe."
    return re.sub(own, "", table, flags=re.DOTALL)


def best(output: Any) -> tuple[str, str]:
    """Return the kind and content of a cell's output that a page shows best."""
    if output.output_type == "stream":
        return "text/plain", output.text
    kind = next(kind for kind in SHOWN if kind in output.data)
    return kind, output.data[kind]
