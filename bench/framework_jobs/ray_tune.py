# launcher: plain
"""Ray Tune: four trials, a run each, by Stepscope's callback."""

import os

import ray
from ray import tune

from stepscope.integrations.ray import StepscopeLoggerCallback


def objective(config):
    for step in range(5):
        tune.report({"loss": (config["lr"] - 0.3) ** 2 + 1 / (step + 1)})


ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
tune.Tuner(
    objective,
    param_space={"lr": tune.grid_search([0.1, 0.2, 0.3, 0.4])},
    run_config=tune.RunConfig(
        storage_path=os.getcwd(), callbacks=[StepscopeLoggerCallback(project="tune", dir=os.environ["STEPSCOPE_DIR"])]
    ),
).fit()
