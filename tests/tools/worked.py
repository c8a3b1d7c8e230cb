"""Arithmetic written out by hand in a table, worked."""

import ast
import operator
from math import ceil, floor, sqrt

OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow}
FUNCTIONS = {"max": max, "min": min, "sqrt": sqrt, "floor": floor, "ceil": ceil}


def worked(text: str) -> float:
    """What it comes to; anything but arithmetic is refused."""
    return _value(ast.parse(text.strip(), mode="eval").body)


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
            return OPERATIONS[type(op)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*map(_value, arguments))
    raise AssertionError(f"not arithmetic: {ast.unparse(node)}")
