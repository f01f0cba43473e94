"""The ACPC protocol: messages, logs, and logs that define their games."""
