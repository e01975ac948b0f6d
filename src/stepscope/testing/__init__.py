"""The pytest plugin: `@pytest.mark.stepscope` and the fixture `training_step`. See docs/integrations/pytest.md."""
