"""Read sales.csv, and write report.md and chart.png."""

from pathlib import Path

from report import as_markdown, draw, read_rows, totals

TITLE = "Sales by month"


def main():
    sums = totals(read_rows("sales.csv"), "month")
    Path("report.md").write_text(as_markdown(TITLE, sums), encoding="utf-8")
    draw(TITLE, sums, "chart.png")
    print(f"report.md and chart.png are written: {len(sums)} months, {sum(sums.values()):.2f} in all")


if __name__ == "__main__":
    main()
