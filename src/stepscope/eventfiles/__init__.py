"""TensorBoard's event files, read and written: record framing, wire format, summaries. docs/design/021 has the plan."""
