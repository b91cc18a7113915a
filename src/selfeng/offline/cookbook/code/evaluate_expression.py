import ast
import operator
from collections.abc import Callable

_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def evaluate_expression(expression: str) -> float:
    """Evaluate an arithmetic expression with + - * / // % **, brackets and the usual precedence.

    Args:
        expression: The expression, such as 2 * (3 + 4); the signs × ÷ and ^ are understood too.

    Returns:
        Its value; an integer where a division comes out whole.

    Raises:
        ValueError: The expression is not arithmetic, divides by zero, or its powers grow too large.
    """
    source = expression.replace("×", "*").replace("÷", "/").replace("−", "-").replace("^", "**").strip()
    try:
        value = _value(ast.parse(source, mode="eval").body)
    except (SyntaxError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise ValueError(f"{expression!r} is not an arithmetic expression") from error
    except ZeroDivisionError as error:
        raise ValueError(f"{expression!r} divides by zero") from error
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left), _value(right))
        case _:
            raise TypeError(f"{ast.unparse(node)} is not arithmetic")


def _power(base: float, exponent: float) -> float:
    if abs(exponent) > 1000 or abs(base) > 1e100:
        raise ValueError(f"the power {base} ** {exponent} is too large")
    result: float | complex = base**exponent
    if isinstance(result, complex):
        raise ValueError(f"the power {base} ** {exponent} is not a real number")
    return result
