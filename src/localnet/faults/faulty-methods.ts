import { invalidInput, RpcFailure, Status } from "../fullnode/failures.ts";
import { NoAnswer, type UnaryMethod } from "../fullnode/unary-method.ts";
import type { Faults } from "./faults.ts";

/**
 * Wraps the node's methods with latency, rejections, lost replies and stale reads. `lagging` are the methods of a node
 * that lags behind. A method that it lacks is never stale.
 */
export function faultyMethods(
  methods: readonly UnaryMethod[],
  lagging: readonly UnaryMethod[],
  faults: Faults,
): UnaryMethod[] {
  const behind = new Map(lagging.map((method) => [method.path, method]));
  return methods.map((method) => ({
    path: method.path,
    async handle(request) {
      const { settings } = faults;
      const isExecute = method.path === EXECUTE;
      const latencyMs = faults.duration(settings.latencyMs, settings.jitterMs);
      const delayMs = latencyMs + (isExecute ? settings.executeLatencyMs : 0);
      if (delayMs > 0) await faults.pause(delayMs);
      if (faults.happens(settings.rateLimit))
        throw new RpcFailure(Status.ResourceExhausted, "too many requests");
      if (faults.happens(settings.timeout)) throw new NoAnswer("silent");
      if (isExecute) return execute(method, request, faults);
      const late = behind.get(method.path);
      return late && faults.happens(settings.staleRead) ? late.handle(request) : method.handle(request);
    },
  }));
}

const EXECUTE = "/sui.rpc.v2.TransactionExecutionService/ExecuteTransaction";

async function execute(method: UnaryMethod, request: Uint8Array, faults: Faults): Promise<Uint8Array> {
  const { versionConflict, dropReply } = faults.settings;
  if (faults.happens(versionConflict))
    throw invalidInput("Object is not available for consumption, its current version is another one");
  const reply = await method.handle(request);
  if (faults.happens(dropReply)) throw new NoAnswer("connection-breaks");
  return reply;
}
