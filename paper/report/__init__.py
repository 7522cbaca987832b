"""The report: our numbers beside the paper's, as tables, figures and pages."""
