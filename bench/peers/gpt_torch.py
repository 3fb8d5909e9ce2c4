"""A training step of GPT-2's 124 M in PyTorch on the CPU, timed: flash attention, tied head, fused AdamW, autocast for bf16."""
import torch
import torch.nn as nn
import torch.nn.functional as F

import measure

parser = measure.arguments(__doc__)
parser.add_argument("--sequence", type=int, required=True)
parser.add_argument("--compile", action="store_true")
args = parser.parse_args()
torch.set_num_threads(args.threads)
LAYERS, HIDDEN, HEADS, VOCABULARY = 12, 768, 12, 50304  # padded, as ours is


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.qkv, self.proj = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.ln2, self.up, self.down = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(b, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c)
        x = x + self.proj(y)
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCABULARY, HIDDEN), nn.Embedding(args.sequence, HIDDEN)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.ln = nn.LayerNorm(HIDDEN)
        self.head = nn.Linear(HIDDEN, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens, targets):
        y = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            y = block(y)
        return F.cross_entropy(self.head(self.ln(y)).view(-1, VOCABULARY), targets.view(-1))


model = GPT()
tokens, targets = (torch.randint(0, 50257, (args.batch, args.sequence)) for _ in range(2))
optimizer = torch.optim.AdamW(model.parameters(), 3e-4, fused=True)
forward = torch.compile(model) if args.compile else model


def step():
    with torch.autocast("cpu", torch.bfloat16, enabled=args.precision == "bf16"):
        loss = forward(tokens, targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


measure.report(torch.__version__, args.batch * args.sequence, measure.step_times(step, args.seconds))
