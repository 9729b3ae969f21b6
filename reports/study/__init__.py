"""What the runs of a study gave, beside what was published: a document, tables, a page."""
