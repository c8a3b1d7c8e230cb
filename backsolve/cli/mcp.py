"""The command `mcp`: a server of the Model Context Protocol on standard input and output. Commands are its tools."""

import json
from asyncio import Lock
from collections.abc import Mapping
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from backsolve.cli import options
from backsolve.cli.main import backsolve
from derive import VERSION
from derive.errors import NO_ANSWER

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.types import CallToolResult

_PACKAGE = Path(__file__).parents[1]
_SCHEMAS = (_PACKAGE.parent / "docs/reference/schema", _PACKAGE / "site/texts/docs/reference/schema")
"""The folder of the JSON Schemas: in a checkout, and in a wheel."""
_ONE_AT_A_TIME = Lock()
"""Lock, because all commands print to the same standard output."""

_Schema = dict[str, Any]


class CommandTool(NamedTuple):
    """A command as a tool: its arguments and options by name, whether an argument is needed, and the schema of its answer.

    The answer of a tool is an object or a text. A list is the value of `key` in an object. A blank `schema` allows any items in a list.
    Without both the answer is a text.
    """

    options: tuple[str, ...]
    arguments: Mapping[str, str]
    required: bool = True
    schema: str = ""
    key: str = ""

    @property
    def output_schema(self) -> _Schema | None:
        """Return the JSON Schema of the answer, or None if the answer is a text."""
        place = next((folder / self.schema for folder in _SCHEMAS if self.schema and (folder / self.schema).is_file()), None)
        found = json.loads(place.read_bytes()) if place else {}
        if not self.key:
            return found or None
        around = {name: found.pop(name) for name in ("$schema", "$defs") if name in found}
        return {**around, "type": "object", "required": [self.key], "properties": {self.key: found or {"type": "array"}}}


_TOOLS = {
    "solve": CommandTool(
        options=("using", "hardware", "model", "overlap", "efficiency", "price", "tier", "strict"),
        arguments={
            "unknown": "The quantity to solve for, as step_time, chips or cost_per_token.",
            "given": "Known quantities with a number in SI, or a text with its unit or a limit: batch: 64, ctx: '8k', tpot: '<=50ms'.",
        },
        schema="solve.schema.json",
    ),
    "infer": CommandTool(
        options=("as-of", "tier", "set"),
        arguments={"models": "Models of the price table, such as gemini-3.1-pro or openai/gpt-5.4."},
        schema="infer.schema.json",
        key="sheets",
    ),
    "cite": CommandTool(
        options=("as",), arguments={"ids": "Ids of equations, models or prices, as roofline.step_time or gemini-3.1-pro#output."}
    ),
    "claims": CommandTool(options=(), arguments={"words": "The id of a claim, as A13d, or words in it."}, required=False, key="claims"),
}
"""The tools by name. Each has the name of its command. Their other texts and schemas come from the command."""


def _parameters(name: str) -> dict[str, click.Parameter]:
    """Return the arguments and options of a tool by name. The first argument comes first."""
    tool = _TOOLS[name]
    every = {one.name if isinstance(one, click.Argument) else one.opts[0].lstrip("-"): one for one in backsolve.commands[name].params}
    return {str(one): every[one] for one in (*tool.arguments, *tool.options)}


def _schema_of(one: click.Parameter, about: str) -> _Schema:
    """Return the JSON Schema of a parameter."""
    text: _Schema = {"type": "string", "minLength": 1, "maxLength": 1000}
    said = {"description": about or getattr(one, "help", "")}
    if "=" in (one.metavar or ""):
        return {**said, "type": "object", "maxProperties": 100, "additionalProperties": {"type": ["string", "number"]}}
    if getattr(one, "is_flag", False):
        return {**said, "type": "boolean"}
    if isinstance(one.type, click.Choice):
        return {**said, "enum": [*one.type.choices]}
    if one.multiple or one.nargs == -1:
        return {**said, "type": "array", "minItems": 1, "maxItems": 50, "items": text}
    return said | text


def _described(name: str) -> _Schema:
    """Return a tool in the form of the protocol."""
    tool = _TOOLS[name]
    needed = [next(iter(tool.arguments))] if tool.required else []
    properties = {word: _schema_of(one, tool.arguments.get(word, "")) for word, one in _parameters(name).items()}
    schema = {"type": "object", "additionalProperties": False, "required": needed, "properties": properties}
    # The examples of the help are command lines.
    about = " ".join(cleandoc(backsolve.commands[name].help or "").partition("\nExample:")[0].split())
    found = {"name": name, "description": about, "inputSchema": schema}
    return found | ({"outputSchema": output} if (output := tool.output_schema) else {})


def _words(name: str, given: Mapping[str, Any]) -> list[str]:
    """Return the words of a command line. Options are --name=value, so a value is never read as an option."""
    options, arguments = ["--as=json"] if _TOOLS[name].schema or _TOOLS[name].key else [], []
    for word, one in _parameters(name).items():
        found = given.get(word, ())
        if isinstance(found, bool):
            options += [f"--{word}"] * found
            continue
        if isinstance(found, Mapping):
            found = [f"{key}{'' if str(value)[:1] in ('<', '>') else '='}{value}" for key, value in found.items()]
        texts = [found] if isinstance(found, str) else [*found]
        if isinstance(one, click.Argument):
            arguments += texts
        else:
            options += [f"--{word}={text}" for text in texts]
    return [*options, "--", *arguments]


@click.command("mcp", cls=options.Command)
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
    import anyio
    from mcp.server.stdio import stdio_server

    server = tools_server()

    async def serve() -> None:
        async with stdio_server() as (read, write), anyio.create_task_group() as group:
            passed, messages = anyio.create_memory_object_stream[Any]()
            group.start_soon(_pass_messages, read, passed, write)
            await server.run(messages, write, server.create_initialization_options())

    anyio.run(serve)


async def _pass_messages(read: Any, passed: Any, write: Any) -> None:
    """Forward the messages of a client. Answer an invalid line with an error, because the SDK would not answer."""
    from mcp.shared.message import SessionMessage
    from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError

    async with passed:
        async for message in read:
            if not isinstance(message, Exception):
                await passed.send(message)
                continue
            code, said = (PARSE_ERROR, "no JSON") if "json_invalid" in str(message) else (INVALID_REQUEST, "no JSON-RPC message")
            fault = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=code, message=f"the line is {said}"))
            await write.send(SessionMessage(fault))


def tools_server() -> "Server[Any]":
    """Return the server with its tools. Each call runs its command, one after the other."""
    from mcp.server import Server
    from mcp.types import ListToolsResult, Tool

    async def list_tools(_context: Any, _page: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool.model_validate(_described(name)) for name in _TOOLS])

    return Server("backsolve", version=VERSION, on_list_tools=list_tools, on_call_tool=_call)


async def _call(_context: Any, asked: Any) -> "CallToolResult":
    """Return the answer of a command, or its error message."""
    from anyio import to_thread
    from click.testing import CliRunner
    from jsonschema import Draft202012Validator
    from mcp.types import CallToolResult, TextContent

    def answer(text: str, found: Any = None, failed: bool = False) -> CallToolResult:
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=found, is_error=failed)

    name, arguments = asked.name, asked.arguments or {}
    if name not in _TOOLS:
        return answer(f"unknown tool {name!r}. Allowed: {', '.join(_TOOLS)}", failed=True)
    tool = _TOOLS[name]
    for fault in Draft202012Validator(_described(name)["inputSchema"]).iter_errors(arguments):
        return answer(f"{'.'.join(map(str, fault.path)) or name}: {fault.message[:500]}", failed=True)
    async with _ONE_AT_A_TIME:
        done = await to_thread.run_sync(CliRunner().invoke, backsolve, [name, *_words(name, arguments)])
    if done.exit_code not in (0, NO_ANSWER) or not done.stdout:
        return answer(done.stderr or f"the command ended with {done.exit_code}", failed=True)
    found = json.loads(done.stdout) if tool.schema or tool.key else None
    if isinstance(found, list) and not tool.key:
        return answer(f"{len(found)} answers: a comma asks several questions. Ask one of them at a time", failed=True)
    return answer(done.stdout, {tool.key: found} if tool.key else found)
