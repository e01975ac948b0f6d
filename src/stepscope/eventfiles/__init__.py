"""TensorBoard's event files, read and written without TensorBoard or protobuf. docs/integrations/tensorboard.md."""
