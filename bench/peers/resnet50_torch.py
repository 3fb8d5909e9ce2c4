"""A training step of ResNet-50 v1.5 in PyTorch on the CPU, timed: stride in the 3x3, SGD with momentum, autocast for bf16."""
import torch
import torch.nn as nn

import measure

parser = measure.arguments(__doc__)
parser.add_argument("--channels-last", action="store_true")
parser.add_argument("--compile", action="store_true")
args = parser.parse_args()
torch.set_num_threads(args.threads)


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride, project):
        super().__init__()
        out = 4 * width
        self.reduce, self.bn1 = nn.Conv2d(channels, width, 1, bias=False), nn.BatchNorm2d(width)
        self.spatial, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.expand, self.bn3 = nn.Conv2d(width, out, 1, bias=False), nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.project = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)) if project else None

    def forward(self, x):
        y = self.relu(self.bn1(self.reduce(x)))
        y = self.relu(self.bn2(self.spatial(y)))
        y = self.bn3(self.expand(y))
        return self.relu(y + (x if self.project is None else self.project(x)))


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(channels, width, stride if block == 0 else 1, block == 0))
            channels = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


model = resnet50()
images, targets = torch.randn(args.batch, 3, 224, 224), torch.randint(0, 1000, (args.batch,))
if args.channels_last:
    model, images = model.to(memory_format=torch.channels_last), images.to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=5e-5, foreach=True)
loss_of = nn.CrossEntropyLoss()
forward = torch.compile(model) if args.compile else model


def step():
    with torch.autocast("cpu", torch.bfloat16, enabled=args.precision == "bf16"):
        loss = loss_of(forward(images), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


measure.report(torch.__version__, args.batch, measure.step_times(step, args.seconds))
