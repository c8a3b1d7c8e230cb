"""The command `mcp`: a server of the Model Context Protocol on standard input and output. Commands are its tools."""

import json
from asyncio import Lock
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from derive.errors import NO_ANSWER, WrongValue
from derive.version import VERSION

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.types import CallToolResult

_PACKAGE = Path(__file__).parents[1]
_SCHEMAS = (_PACKAGE.parent / "docs/reference/schema", _PACKAGE / "site/texts/docs/reference/schema")
"""The folder of the JSON Schemas: in a checkout, and in a wheel."""
_ONE_AT_A_TIME = Lock()
"""Commands print to the one standard output."""
_ONE = {"type": "string", "minLength": 1, "maxLength": 1000, "pattern": "^[^,]*$"}
_TEXTS = {"type": "array", "maxItems": 50, "items": {"type": "string", "minLength": 1, "maxLength": 1000}}
_VALUES = {"type": "object", "maxProperties": 100, "additionalProperties": {"type": ["string", "number"]}}

_Arguments = Mapping[str, Any]


class CommandTool(NamedTuple):
    """A command as a tool: its description, its arguments as JSON Schema, the words of its command line, and the schema of its answer.

    The answer of a tool is an object or a text. A list is the value of `key` in an object. A blank `schema` allows any items in a list.
    """

    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    words: Callable[[_Arguments], list[str]]
    schema: str = ""
    key: str = ""

    @property
    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        return {"type": "object", "additionalProperties": False, "required": [*self.required], "properties": dict(self.properties)}

    @property
    def output_schema(self) -> dict[str, Any] | None:
        """Return the JSON Schema of the answer, or None if the answer is a text."""
        place = next((folder / self.schema for folder in _SCHEMAS if self.schema and (folder / self.schema).is_file()), None)
        found = json.loads(place.read_bytes()) if place else {}
        if not self.key:
            return found or None
        around = {name: found.pop(name) for name in ("$schema", "$defs") if name in found}
        return {**around, "type": "object", "required": [self.key], "properties": {self.key: found or {"type": "array"}}}

    def answer_of(self, text: str) -> dict[str, Any] | None:
        """Return the output of a command as an object, or None for a text."""
        if self.key:
            return {self.key: json.loads(text)}
        return json.loads(text) if self.schema else None


def _options(arguments: _Arguments, *names: str) -> list[str]:
    """Return the given options with these names, as --name=value, so that a value is never read as an option."""
    given = {name: arguments[name] for name in names if name in arguments}
    return [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]


def _solve_words(arguments: _Arguments) -> list[str]:
    named = [f"--using={id}" for id in arguments.get("using", ())] + (["--strict"] if arguments.get("strict") else [])
    given = [f"{name}={value}" for name, value in arguments.get("given", {}).items()]
    options = _options(arguments, "hardware", "model", "efficiency", "price", "tier", "overlap")
    return [*options, *named, "--as=json", "--", arguments["unknown"], *given, *arguments.get("limits", ())]


def _infer_words(arguments: _Arguments) -> list[str]:
    changes = [f"--set={name}={value}" for name, value in arguments.get("set", {}).items()]
    return [*_options(arguments, "as_of", "tier"), *changes, "--as=json", "--", arguments["model"]]


_TOOLS = {
    "solve": CommandTool(
        "Solve the equations of LLM serving and training for one unknown quantity, forwards or backwards: latency, throughput, batch, "
        "chips, memory, cost. Quantities have the names that engineers use, such as tpot, qps, isl, ctx. SI units in the answer.",
        {
            "unknown": {**_ONE, "description": "The quantity to solve for, as step_time, chips or cost_per_token."},
            "given": {**_VALUES, "description": "Known quantities with a number in SI or a text with its unit: batch: 64, ctx: '8k'."},
            "limits": {**_TEXTS, "description": "Limits, as 'tpot<=50ms' or 'throughput>=50k'."},
            "hardware": {**_ONE, "description": "Chips with their number and data type, as 8xH100:fp8."},
            "model": {**_ONE, "description": "An open model, as DeepSeek-V3, or the path of a config.json."},
            "using": {**_TEXTS, "description": "Ids of equations to use, as training.chinchilla."},
            "strict": {"type": "boolean", "description": "Use definitions and bounds alone, no rule of thumb and no reading of prices."},
            "efficiency": {"enum": ["ideal", "calibrated"], "description": "The shares of the peaks: 1, or as published runs sustained."},
            "price": {"enum": ["given", "rent"], "description": "rent is the median rent of the chip in the table."},
            "tier": {**_ONE, "description": "A storage tier or device, as nvme."},
            "overlap": {**_ONE, "description": "How compute and memory time combine: max, sum, kv_plus_max, network, exposed."},
        },
        ("unknown",),
        _solve_words,
        "solve.schema.json",
    ),
    "infer": CommandTool(
        "Read a public API price sheet: KV bytes per token, bandwidth-bound fraction, cache tier and active parameters, with the record "
        "of each estimate.",
        {
            "model": {**_ONE, "description": "A model of the price table, as gemini-3.1-pro or openai/gpt-5.4."},
            "as_of": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$", "description": "The day whose prices hold."},
            "tier": {**_ONE, "description": "A service tier, as standard or batch."},
            "set": {**_VALUES, "description": "Changed prices by component, as output: '15' or input: '+10%'."},
        },
        ("model",),
        _infer_words,
        "infer.schema.json",
        "sheets",
    ),
    "cite": CommandTool(
        "Cite equations, price sheets or single prices with version, sources and the second of the lecture.",
        {
            "ids": {**_TEXTS, "minItems": 1, "description": "Ids of equations or models, as roofline.step_time or gemini-3.1-pro#output."},
            "style": {"enum": ["plain", "bibtex", "latex", "csl-json"], "description": "The form of the citation."},
        },
        ("ids",),
        lambda arguments: [f"--as={arguments.get('style', 'plain')}", "--", *arguments["ids"]],
    ),
    "claims": CommandTool(
        "List the claims and predictions of the lecture with the stated and the computed value, the verdict and its reason.",
        {"words": {**_TEXTS, "description": "The id of a claim, as A13d, or words in it. Without words all claims are listed."}},
        (),
        lambda arguments: ["--as=json", "--", *arguments.get("words", ())],
        key="claims",
    ),
}
"""The tools by name. Each has the name of its command."""


@click.command("mcp")
@click.option("--tools", is_flag=True, help="Print the tools with the JSON Schemas of their arguments and answers, and exit.")
def mcp_command(tools: bool) -> None:
    """Serve solve, infer, cite and claims as tools of the Model Context Protocol, on standard input and output.

    A client starts the command itself, as {"command": "backsolve", "args": ["mcp"]}. The server needs the extra mcp:
    pip install 'backsolve[mcp]'.

    Example:

    \b
    backsolve mcp --tools
    """
    if tools:
        click.echo(json.dumps([_described(name) for name in _TOOLS], indent=2))
        return
    try:
        import anyio
        from mcp.server.stdio import stdio_server
    except ModuleNotFoundError:
        raise WrongValue("the server needs the extra mcp: pip install 'backsolve[mcp]'") from None
    server = tools_server()

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)


def _described(name: str) -> dict[str, Any]:
    """Return a tool as the protocol describes it."""
    tool = _TOOLS[name]
    found = {"name": name, "description": tool.description, "inputSchema": tool.input_schema}
    return found | ({"outputSchema": schema} if (schema := tool.output_schema) else {})


def tools_server() -> "Server[Any]":
    """Return the server with its tools. Each call runs its command, one after the other."""
    from mcp.server import Server
    from mcp.types import ListToolsResult, Tool

    async def list_tools(_context: Any, _page: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool.model_validate(_described(name)) for name in _TOOLS])

    async def call_tool(_context: Any, asked: Any) -> "CallToolResult":
        return await _call(asked.name, asked.arguments or {})

    return Server("backsolve", version=VERSION, on_list_tools=list_tools, on_call_tool=call_tool)


async def _call(name: str, arguments: _Arguments) -> "CallToolResult":
    """Return the answer of a command, or its error message."""
    from anyio import to_thread
    from jsonschema import Draft202012Validator
    from mcp.types import CallToolResult, TextContent

    def answer(text: str, found: Any = None, failed: bool = False) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=found, is_error=failed)

    if name not in _TOOLS:
        return answer(f"unknown tool {name!r}. Allowed: {', '.join(_TOOLS)}", failed=True)
    tool = _TOOLS[name]
    for fault in Draft202012Validator(tool.input_schema).iter_errors(arguments):
        return answer(f"{'.'.join(map(str, fault.path)) or name}: {fault.message[:500]}", failed=True)
    async with _ONE_AT_A_TIME:
        status, out, told = await to_thread.run_sync(_run, [name, *tool.words(arguments)])
    if status not in (0, NO_ANSWER) or not out:
        return answer(told or f"the command ended with {status}", failed=True)
    return answer(out, tool.answer_of(out))


def _run(words: list[str]) -> tuple[int, str, str]:
    """Return the exit status of a command of this program, its standard output and its standard error."""
    from backsolve.cli.main import backsolve

    out, told = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(told):
        try:
            backsolve.main(args=words, prog_name="backsolve")
        except SystemExit as left:
            status = left.code
    return int(status or 0), out.getvalue(), told.getvalue()
