"""Runs modules of the page in Node.js: an expression in, its JSON out."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

WEB = Path(__file__).parents[2] / "web"
TIMEOUT = 60

PROGRAM = """
import {{ readFileSync }} from "node:fs";
const input = JSON.parse(readFileSync(0, "utf8"));
const {{ {names} }} = await import({module});
const plain = (_, value) => typeof value === "bigint" ? String(value)
  : ArrayBuffer.isView(value) ? Array.from(value) : value;
const answer = await (async () => {{ {body} }})();
process.stdout.write(JSON.stringify(answer ?? null, plain));
"""


def run_module(node: str, module: str, names: str, body: str, value: Any = None) -> Any:
    """What `body` returns; it sees `names` of web/`module` and `input`, the value."""
    program = PROGRAM.format(names=names, module=json.dumps((WEB / module).as_uri()), body=body)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.mjs"
        file.write_text(program)
        done = subprocess.run(
            [node, str(file)],
            input=json.dumps(value),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
