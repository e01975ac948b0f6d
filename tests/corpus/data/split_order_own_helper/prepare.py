import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split


def load_standardised(seed=0):
    """Train and test inputs, then train and test targets, all float32."""
    x, y = load_diabetes(return_X_y=True)
    x_tr, x_te, y_tr, y_te = train_test_split(x, y, test_size=0.2, random_state=seed)
    xm, xs = x_tr.mean(0), x_tr.std(0)
    ym, ys = y_tr.mean(), y_tr.std()
    out = (x_tr - xm) / xs, (x_te - xm) / xs, (y_tr - ym) / ys, (y_te - ym) / ys
    return tuple(a.astype(np.float32) for a in out)
