"""A client that multiplies matrices without a pause, until it is killed: a neighbour for the demo `llama`."""

import numpy as np

import ttfd.tensor as tt

AHEAD = 4  # products that are enqueued together

if __name__ == "__main__":
    with tt.open(client_name="load") as card:
        x = card.tensor(np.full((512, 512), 1 / 512))
        while True:
            for _ in range(AHEAD):
                x = x @ x
            card.finish()
