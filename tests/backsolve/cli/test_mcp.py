"""`backsolve mcp`: the commands as tools, asked by the client of the official SDK."""

import json
import subprocess
import sys

import pytest
from jsonschema import Draft202012Validator

from tests.tools.commands import call

pytest.importorskip("mcp")

import anyio
from mcp import Client, StdioServerParameters

from backsolve.cli.mcp import tools_server

BALANCE = {"unknown": "balance_batch", "given": {"machine_balance_ratio": 300, "sparsity": 8}}


def asked(*calls, server=None):
    """The answers of a server to calls of its tools."""

    async def ask():
        async with Client(server or tools_server()) as client:
            return [await client.call_tool(name, arguments) for name, arguments in calls]

    return anyio.run(ask)


def test_every_tool_says_what_it_takes_and_gives():
    async def ask():
        async with Client(tools_server()) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in anyio.run(ask)}
    assert tools.keys() == {"solve", "infer", "cite", "claims"}
    assert {tool["name"]: tool["outputSchema"] for tool in json.loads(call("mcp", "--tools").out) if "outputSchema" in tool} == {
        name: tool.output_schema for name, tool in tools.items() if tool.output_schema
    }
    for tool in tools.values():
        Draft202012Validator.check_schema(tool.input_schema)
        assert all(one["description"] for one in tool.input_schema["properties"].values())
        Draft202012Validator.check_schema(tool.output_schema or {})
    assert "point" in tools["solve"].output_schema["$defs"]


def test_tools_answer_as_the_commands_do():
    solved, inferred, cited, listed, ranked = asked(
        ("solve", BALANCE),
        ("infer", {"models": ["gemini-3.1-pro"], "set": {"output": "15"}}),
        ("cite", {"ids": ["roofline.step_time"], "as": "bibtex"}),
        ("claims", {"words": ["A13a"]}),
        ("solve", {"unknown": "storage_tier", "given": {"ttl": "1h"}}),
    )
    assert solved.structured_content == json.loads(
        call("solve", "balance_batch", "machine_balance_ratio=300", "sparsity=8", "--as", "json").out
    )
    assert inferred.structured_content["sheets"][0]["observables"]["output_input_ratio"] == 7.5
    assert cited.content[0].text == call("cite", "roofline.step_time", "--as", "bibtex").out
    assert ranked.structured_content["answers"][0]["tier"] == "flash"
    assert [row["id"] for row in listed.structured_content["claims"]] == ["A13a"]


def test_limits_chips_and_models_reach_the_question():
    (found,) = asked(
        (
            "solve",
            {"unknown": "chips", "hardware": ["H200:fp8"], "model": ["Llama-3.1-70B"],
             "given": {"ctx": "8Ki", "kv_dtype": "fp8", "step_time": "<=50ms", "throughput": ">=50k"}},
        )
    )  # fmt: skip
    (answer,) = found.structured_content["answers"]
    assert answer["low"] if answer["kind"] == "interval" else answer["value"] >= 1


def test_no_answer_has_a_reason_and_a_mistake_is_an_error(tmp_path):
    place = tmp_path / "drawn.svg"
    refused, *wrong = asked(
        ("solve", {"unknown": "step_time", "given": {"batch": 8}}),
        ("solve", {"unknown": "stepp_time"}),
        ("solve", {"unknown": f"--plot={place}", "given": {"batch": 8}}),
        ("solve", {"unknown": "step_time", "using": ["--help"]}),
        ("solve", {"given": {}}),
        ("solve", {"unknown": "sweep_time", "hardware": ["H100,B200:fp8"]}),
        ("solve", {"unknown": "storage_tier", "given": {"ttl": "5min,1h"}}),
        ("infer", {"models": ["nobody/nothing"]}),
        ("infer", {"models": ["gemini-3.1-pro"], "save": "x.json"}),
    )
    assert not refused.is_error and refused.structured_content["reason"]
    assert all(one.is_error and one.structured_content is None for one in wrong)
    assert "did you mean 'step_time'" in wrong[0].content[0].text
    assert "'unknown' is a required property" in wrong[3].content[0].text
    assert all("Ask one of them at a time" in one.content[0].text for one in wrong[4:6])
    assert not place.exists()


def test_the_command_serves_on_standard_input_and_output():
    server = StdioServerParameters(command=sys.executable, args=["-m", "backsolve", "mcp"])
    (found,) = asked(("solve", BALANCE), server=server)
    assert found.structured_content["answers"][0]["value"] == 2400


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def test_a_line_that_is_no_message_is_an_error_and_the_server_goes_on():
    lines = ["hello", '{"a": 1}', json.dumps({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": HELLO})]
    with subprocess.Popen([sys.executable, "-m", "backsolve", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        server.stdin.write("\n".join([*lines, ""]))
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in lines]
        server.stdin.close()
    assert {(one["id"], one.get("error", {}).get("code")) for one in answers} == {(None, -32700), (None, -32600), (7, None)}
