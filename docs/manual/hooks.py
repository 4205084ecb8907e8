"""What MkDocs is told beyond `mkdocs.yml`: addresses, pictures, tables of fields, formulas."""

import posixpath
import re
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from docs.manual.blocks import FENCE, all_blocks
from docs.manual.fields import table_of
from docs.manual.formulas import with_formulas
from docs.manual.pictures import picture

OWN = "manual/"
FIELDS = re.compile(r"^<!-- fields: (\w+) -->$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>(?![a-z]+:|#)[^)#\s]+)(?:#[^)]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Pages of this folder come first in addresses; every scene gets a picture."""
    for file in files:
        if file.src_uri.startswith(OWN):
            file.dest_uri = file.dest_uri.removeprefix(OWN)
    for block in all_blocks():
        if block.is_scene:
            name = f"{OWN}pictures/{block.name}.svg"
            made = File.generated(config, name, content=picture(block.document))
            made.dest_uri = name.removeprefix(OWN)
            files.append(made)
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Put pictures behind scenes, tables where fields are named, and no links out of docs/."""
    if page.file.src_uri.startswith(OWN):
        scenes = {block.number: block for block in all_blocks() if block.page == page_name(page)}
        count = 0

        def with_picture(found: re.Match[str]) -> str:
            nonlocal count
            count += 1
            block = scenes[count]
            if not block.is_scene:
                return found.group()
            return f"{found.group()}\n\n![{block.document['name']}](pictures/{block.name}.svg)"

        markdown = FENCE.sub(with_picture, markdown)
        markdown = FIELDS.sub(lambda found: table_of(found[1]), markdown)
    place = posixpath.dirname(page.file.src_uri)

    def kept_inside(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join("docs", place, found["target"]))
        if path.startswith("docs/") and files.get_file_from_path(path.removeprefix("docs/")):
            return found.group()
        text = found["text"].strip("`")
        is_of_file = text in path and not (path.endswith(".py") and text.isidentifier())
        return f"`{path}`" if is_of_file else f"{found['text']} (`{path}`)"

    return LINK.sub(kept_inside, markdown)


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Typeset formulas. Raises PluginError."""
    try:
        return with_formulas(html)
    except ValueError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from error


def page_name(page: Any) -> str:
    """The name of a page of this folder."""
    return str(page.file.src_uri).removeprefix(OWN).removesuffix(".md")
