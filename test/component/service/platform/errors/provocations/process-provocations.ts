import { Onboarding } from "../../../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { DATABASE_FAILURE } from "../error-stack.ts";
import type { Provocation } from "./provocation.ts";

const { getNetwork } = Onboarding.method;

/** Refusals that no caller can avoid: faults of the chain, the process and the service. */
export const PROCESS_PROVOCATIONS = {
  CHAIN_UNAVAILABLE: [
    {
      how: "a read of the chain while the fullnode does not answer",
      provoke: (stack, client) => stack.fullnode.down(() => client.call({ method: getNetwork })),
    },
  ],
  NETWORK_UNAVAILABLE: [
    {
      how: "a call to a replica that has not reached the network since its start",
      async provoke(stack, client) {
        const { url } = await stack.serve({ isNetworkOpen: false });
        return client.call({ method: getNetwork, url });
      },
      metadata: { network: "localnet" },
    },
  ],
  DATABASE_UNAVAILABLE: [
    {
      how: "a call whose connection to the database was cut",
      provoke: (stack, client) => stack.broken(() => client.call({ method: getNetwork }), DATABASE_FAILURE),
    },
  ],
  DRAINING: [
    {
      how: "a call that outlasts the time which a stopping process has for it",
      async provoke(stack, client) {
        const server = await stack.serve();
        return stack.fullnode.held(async (asked) => {
          const calling = client.call({ method: getNetwork, url: server.url });
          await asked;
          const drained = server.drain({ delayMs: 0, timeoutMs: 0 });
          const reply = await calling;
          await drained;
          return reply;
        });
      },
    },
  ],
  INTERNAL: [
    {
      how: "a failure that nobody foresaw",
      provoke: (stack, client) => stack.broken(() => client.call({ method: getNetwork })),
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
