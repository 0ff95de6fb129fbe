"""The steps of pre-training: Muon for the matrices of the layers, Adam for all else.

Muon (Jordan et al. 2024) makes each matrix's momentum orthogonal before it is applied; matrices of one shape go in one
batch of products. Its steps are scaled to the size of Adam's (Liu et al. 2025), so that both share a learning rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from streamsoccer.errors import CheckpointError

__all__ = ["Descent"]

_ROUNDS = 5
_TERMS = (3.4445, -4.7750, 2.0315)  # of the Newton-Schulz polynomial


class Descent:
    """Parameters by name; those of `matrices` are cut into square-like parts that belong together."""

    def __init__(
        self, named: Mapping[str, nn.Parameter], matrices: Sequence[str], *, momentum: float, weight_decay: float
    ) -> None:
        self.momentum, self.weight_decay = momentum, weight_decay
        chosen = set(matrices)
        self._shapes: dict[tuple[int, int], list[tuple[str, nn.Parameter]]] = {}
        for name, each in named.items():
            if name in chosen:
                parts = 3 if name.endswith("qkv.weight") else 1
                self._shapes.setdefault((each.shape[0] // parts, each.shape[1]), []).append((name, each))
        self._momenta = {
            shape: torch.cat([torch.zeros_like(each).view(-1, *shape) for _, each in held])
            for shape, held in self._shapes.items()
        }
        rest = [(name, each) for name, each in named.items() if name not in chosen]
        self._rest = rest
        # What has one axis is a norm or a bias, which nothing pulls to zero.
        groups = [
            {"params": [each for _, each in rest if each.ndim > 1], "weight_decay": weight_decay},
            {"params": [each for _, each in rest if each.ndim < 2], "weight_decay": 0.0},
        ]
        cuda = bool(rest) and rest[0][1].is_cuda
        self._adam = torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.95), fused=cuda)

    @torch.no_grad()
    def step(self, rate: float) -> Tensor:
        """One step with the gradients that are there, which it then drops; returns the norm of Adam's part."""
        norm: Tensor = nn.utils.clip_grad_norm_([each for _, each in self._rest], 1.0)
        for group in self._adam.param_groups:
            group["lr"] = rate
        self._adam.step()
        for shape, held in self._shapes.items():
            gradients = torch.cat([_of(each).view(-1, *shape) for _, each in held])
            momentum = self._momenta[shape]
            momentum.lerp_(gradients, 1 - self.momentum)
            turned = _orthogonal(gradients.lerp(momentum, self.momentum))
            scaled = turned.mul_(-rate * 0.2 * max(shape) ** 0.5)
            parts = [each.numel() // (shape[0] * shape[1]) for _, each in held]
            weights: list[Tensor] = [each for _, each in held]
            torch._foreach_mul_(weights, 1 - rate * self.weight_decay)
            torch._foreach_add_(
                weights, [change.reshape(each.shape) for change, each in zip(scaled.split(parts), weights, strict=True)]
            )
        for _, each in [*self._rest, *(one for held in self._shapes.values() for one in held)]:
            each.grad = None
        return norm

    def state(self) -> dict[str, Tensor]:
        """All of it, as named tensors."""
        found = {f"muon.{rows}x{columns}": value for (rows, columns), value in self._momenta.items()}
        for name, each in self._rest:
            for key, value in self._adam.state.get(each, {}).items():
                found[f"adam.{name}|{key}"] = value if isinstance(value, Tensor) else torch.tensor(float(value))
        return {name: value.detach().cpu().contiguous() for name, value in found.items()}

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what `state` gave."""
        try:
            for (rows, columns), value in self._momenta.items():
                value.copy_(state[f"muon.{rows}x{columns}"])
            for name, each in self._rest:
                keys = ("step", "exp_avg", "exp_avg_sq")
                if f"adam.{name}|step" in state:
                    on_cpu = not each.is_cuda
                    self._adam.state[each] = {
                        key: state[f"adam.{name}|{key}"].to("cpu" if key == "step" and on_cpu else each.device)
                        for key in keys
                    }
        except (KeyError, RuntimeError) as error:
            raise CheckpointError(f"the state of the optimizer is of another model: {error}") from error


def _of(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def _orthogonal(matrices: Tensor) -> Tensor:
    """The nearest matrices with singular values near 1: [n, rows, columns]."""
    x: Tensor = matrices.bfloat16() if matrices.is_cuda else matrices
    tall: bool = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    x = x / (x.flatten(1).norm(dim=1).view(-1, 1, 1) + 1e-7)
    first, second, third = _TERMS
    for _ in range(_ROUNDS):
        square = x @ x.mT
        x = first * x + (second * square + third * square @ square) @ x
    return (x.mT if tall else x).to(matrices.dtype)
