"""Reports of results: on the console, as JSON, as a page with its pictures, and as TensorBoard scalars."""

from poker.report.report import Figure, Report, Section, Table, Text

__all__ = ["Figure", "Report", "Section", "Table", "Text"]
