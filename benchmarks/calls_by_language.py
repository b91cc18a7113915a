"""A request about an attached table in four languages, and what a model replies to it: the turns of
`benchmarks.calls` with the default settings.
"""

import json
from collections.abc import Mapping
from typing import NamedTuple

from selfeng.core.files import File
from selfeng_offline.completion import Completion


class Order(NamedTuple):
    """A request for a new tool in a language, a later one for the same tool, and their file."""

    request: str
    standalone: str
    """In English."""
    again: str
    again_standalone: str
    file: File
    group: str
    """The column of groups."""
    amount: str
    """The column that is summed."""

    @property
    def arguments(self) -> Mapping[str, str]:
        return {"path": self.file.name, "group": self.group, "amount": self.amount}


def _file(name: str, header: str, *rows: str) -> File:
    text = "\r\n".join([header, *rows, ""])
    return File(name=name, content=text.encode("utf-8-sig"))


ORDERS = {
    "en": Order(
        "Total the amounts in orders.csv by customer",
        "Total the amounts in orders.csv by customer",
        "What did the customers in orders.csv spend, each of them?",
        "What did the customers in orders.csv spend, each of them?",
        _file(
            "orders.csv",
            "Order,Date,Customer,Amount",
            "A-1041,03/02/2026,Miller & Sons,\"1,249.90\"",
            "A-1042,03/02/2026,Harbour Café,389.00",
            "A-1043,03/05/2026,Miller & Sons,74.50",
            "A-1044,03/09/2026,Ann Lee,\"1,249.90\"",
            "A-1045,03/13/2026,Harbour Café,\"2,100.00\"",
            "A-1046,03/17/2026,Green School,96.25",
            "A-1047,03/21/2026,Ann Lee,74.50",
            "A-1048,03/28/2026,Green School,\"2,100.00\"",
        ),
        "Customer",
        "Amount",
    ),
    "de": Order(
        "Zähle die Beträge in bestellungen.csv nach Kunden zusammen",
        "Total the amounts in bestellungen.csv by customer",
        "Was haben die Kunden in bestellungen.csv jeweils ausgegeben?",
        "What did the customers in bestellungen.csv spend, each of them?",
        _file(
            "bestellungen.csv",
            "Nummer;Datum;Kunde;Betrag",
            "A-1041;02.03.2026;Müller & Söhne;1.249,90",
            "A-1042;02.03.2026;Café am Hafen;389,00",
            "A-1043;05.03.2026;Müller & Söhne;74,50",
            "A-1044;09.03.2026;Anna Lehmann;1.249,90",
            "A-1045;13.03.2026;Café am Hafen;2.100,00",
            "A-1046;17.03.2026;Grüne Schule;96,25",
            "A-1047;21.03.2026;Anna Lehmann;74,50",
            "A-1048;28.03.2026;Grüne Schule;2.100,00",
        ),
        "Kunde",
        "Betrag",
    ),
    "es": Order(
        "Suma los importes de pedidos.csv por cliente",
        "Total the amounts in pedidos.csv by customer",
        "¿Qué han gastado los clientes de pedidos.csv, cada uno de ellos?",
        "What did the customers in pedidos.csv spend, each of them?",
        _file(
            "pedidos.csv",
            "Pedido;Fecha;Cliente;Importe",
            "A-1041;02/03/2026;Muñoz e Hijos;1.249,90",
            "A-1042;02/03/2026;Café del Puerto;389,00",
            "A-1043;05/03/2026;Muñoz e Hijos;74,50",
            "A-1044;09/03/2026;Ana Leal;1.249,90",
            "A-1045;13/03/2026;Café del Puerto;2.100,00",
            "A-1046;17/03/2026;Escuela Verde;96,25",
            "A-1047;21/03/2026;Ana Leal;74,50",
            "A-1048;28/03/2026;Escuela Verde;2.100,00",
        ),
        "Cliente",
        "Importe",
    ),
    "ja": Order(
        "注文.csv の金額を顧客ごとに合計してください。",
        "Total the amounts in 注文.csv by customer",
        "注文.csv の各顧客はいくら購入しましたか。",
        "What did the customers in 注文.csv spend, each of them?",
        _file(
            "注文.csv",
            "注文番号,日付,顧客,金額",
            "A-1041,2026/03/02,山田商店,\"124,990\"",
            "A-1042,2026/03/02,港カフェ,\"38,900\"",
            "A-1043,2026/03/05,山田商店,\"7,450\"",
            "A-1044,2026/03/09,佐藤花子,\"124,990\"",
            "A-1045,2026/03/13,港カフェ,\"210,000\"",
            "A-1046,2026/03/17,緑小学校,\"9,625\"",
            "A-1047,2026/03/21,佐藤花子,\"7,450\"",
            "A-1048,2026/03/28,緑小学校,\"210,000\"",
        ),
        "顧客",
        "金額",
    ),
}  # fmt: skip


def specified(order: Order) -> str:
    """The analyst's reply."""
    table, missing = "who;sum\nAnn;1,5\nBob;4\nann;3\nCy;\n", "name,sum\nAnn,1\n"
    examples = [
        (table, "{'Ann': 4.5, 'Bob': 4.0, 'Cy': 0.0}"),
        ("who,sum\n", "{}"),
        (missing, "raises ValueError"),
        ("who,sum\nAnn,much\n", "raises ValueError"),
    ]
    call = "sum_by_group(path='t.csv', group='who', amount='sum')  # t.csv: {!r}"
    parameters = [
        ("path", "str", None, "Name of the table's file."),
        ("group", "str", None, "Column whose equal values form a group."),
        ("amount", "str", None, "Column that is summed."),
        ("decimal", "str | None", "None", "Decimal sign; None finds it in the file."),
    ]
    names = ("name", "annotation", "default", "description")
    arguments = ", ".join(f"{name}={value!r}" for name, value in order.arguments.items())
    reply = {
        "outcome": "tool",
        "message": "",
        "call": f"sum_by_group({arguments})",
        "specification": {
            "name": "sum_by_group",
            "description": "Sum a column of a table for each value of another; empty cells count "
            "as zero.",
            "parameters": [dict(zip(names, values, strict=True)) for values in parameters],
            "returns": "dict[str, float]",
            "returns_description": "The sum of each group by its name.",
            "errors": "ValueError for a missing column or an unreadable amount.",
            "user_examples": [],
            "examples": [{"call": call.format(text), "result": end} for text, end in examples],
            "example_requests": [
                "Total orders.csv by customer",
                "Revenue by product in sales.csv",
                "Sum the gifts in gifts.csv for each city",
                "Hours per employee in hours.csv",
                "Add up costs.csv by cost centre",
            ],
        },
    }
    return json.dumps(reply, ensure_ascii=False)


TESTS = """```python
import pytest
from sum_by_group import sum_by_group


@pytest.fixture
def sums(tmp_path):
    def call(text, **options):
        path = tmp_path / "t.csv"
        path.write_text(text, encoding="utf-8")
        return sum_by_group(path=str(path), group="who", amount="sum", **options)

    return call


@pytest.mark.parametrize("mark", ["", "\\ufeff"])
def test_each_group_is_summed(sums, mark):
    text = mark + "who;sum\\nAnn;1,5\\nBob;4\\nann;3\\nCy;\\n"
    assert sums(text) == {"Ann": 4.5, "Bob": 4.0, "Cy": 0.0}


def test_the_decimal_sign_can_be_set(sums):
    assert sums("who,sum\\nAnn,1.250\\n", decimal=".") == {"Ann": 1.25}


def test_a_table_without_rows_has_no_groups(sums):
    assert sums("who,sum\\n") == {}


@pytest.mark.parametrize("text", ["name,sum\\nAnn,1\\n", "who,sum\\nAnn,much\\n"])
def test_missing_columns_and_unreadable_amounts_are_errors(sums, text):
    with pytest.raises(ValueError):
        sums(text)
```"""
_MODULE = '''```python
"""Sums of groups of a table."""

import math

from readcells import read_table, text_key


def sum_by_group(
    path: str, group: str, amount: str, decimal: str | None = None
) -> dict[str, float]:
    """Sum a column of a table for each value of another column."""
    table = read_table(path)
    names = [name for _, name in table.column(group)]
    numbers = table.numbers(amount, decimal).checked()
{body}
```'''
IMPLEMENTATIONS = [
    _MODULE.format(body=body.strip("\n"))
    for body in (
        """
    first, sums = {}, {}
    for name, number in zip(names, numbers):
        key = first.setdefault(text_key(name), name)
        sums.setdefault(key, []).append(number or 0)
    return {name: math.fsum(values) for name, values in sums.items()}
""",
        """
    pairs = [(text_key(name), number or 0) for name, number in zip(names, numbers)]
    first = {text_key(name): name for name in reversed(names)}
    keys = dict.fromkeys(key for key, _ in pairs)
    return {first[key]: math.fsum(n for k, n in pairs if k == key) for key in keys}
""",
        """
    sums = {}
    for name, number in zip(names, numbers):
        for known in sums:
            if text_key(known) == text_key(name):
                name = known
        sums[name] = math.fsum([sums.get(name, 0), number or 0])
    return sums
""",
    )
]


def scripted(order: Order) -> dict[str, list[Completion]]:
    """The model's replies for a build, by prompt."""
    reason = "None of them groups."
    return {
        "decide": [
            Completion(
                function="no_tool_fits",
                arguments={"reason": reason, "standalone_request": order.standalone},
            )
        ],
        "specification": [Completion(content=specified(order))],
        "tests": [Completion(content=TESTS)],
        "implementation": [Completion(content=code) for code in IMPLEMENTATIONS],
    }
