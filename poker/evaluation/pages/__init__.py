"""What results look like: self-contained HTML pages and their pictures."""
