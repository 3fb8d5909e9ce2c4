"""A training step of Keras' ResNet-50 in TensorFlow on the CPU, timed: one graph, SGD with momentum, mixed_bfloat16 for bf16."""
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

import measure

parser = measure.arguments(__doc__)
parser.add_argument("--jit", action="store_true", help="compile with XLA")
args = parser.parse_args()
tf.config.threading.set_intra_op_parallelism_threads(args.threads)
tf.config.threading.set_inter_op_parallelism_threads(1)
if args.precision == "bf16":
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

model = tf.keras.applications.ResNet50(weights=None)
optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy()
images = tf.random.normal((args.batch, 224, 224, 3))
targets = tf.random.uniform((args.batch,), 0, 1000, dtype=tf.int32)
optimizer.build(model.trainable_variables)


@tf.function(jit_compile=args.jit)
def train():
    with tf.GradientTape() as tape:
        loss = loss_of(targets, tf.cast(model(images, training=True), tf.float32))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    return loss


measure.report(tf.__version__, args.batch, measure.step_times(lambda: train().numpy(), args.seconds))
