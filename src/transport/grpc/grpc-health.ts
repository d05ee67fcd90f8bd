import type { DescService } from "@bufbuild/protobuf";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/proto/grpc/health/v1/health_pb.ts";
import { registerService, type ServiceRegistration } from "../calls/service-registration.ts";
import { TransportError } from "../calls/transport-error.ts";

/**
 * Implements `grpc.health.v1.Health` (https://github.com/grpc/grpc/blob/master/doc/health-checking.md) for these
 * services, which start as SERVING. A watch reports only changes; a slow reader misses changes that were reverted
 * meanwhile.
 */
export function createGrpcHealth(services: readonly DescService[]): GrpcHealth {
  const names = ["", ...services.map((service) => service.typeName)];
  const known = new Set(names);
  const waiting = new Set<() => void>();
  let status: Status = Status.SERVING;
  let isEnding = false;
  const statusOf = (name: string) => (known.has(name) ? status : undefined);
  const wakeAll = () => {
    for (const wake of waiting) wake();
  };
  return {
    registration: {
      ...registerService(Health, {
        check({ service }) {
          const found = statusOf(service);
          if (found === undefined) throw new TransportError("ROUTE_NOT_FOUND", "there is no such service");
          return { status: found };
        },
        list: () => ({ statuses: Object.fromEntries(names.map((name) => [name, { status }])) }),
        async *watch({ service }, { signal }) {
          let told: Status | undefined;
          while (!signal.aborted) {
            // Services are registered before the server starts, so an unknown one stays unknown. The watch stays open
            // all the same, because its end would make the client retry.
            const current = statusOf(service) ?? Status.SERVICE_UNKNOWN;
            if (current !== told) {
              told = current;
              yield { status: current };
            } else if (isEnding) {
              throw new TransportError("DRAINING", "the server is stopping");
            } else {
              await nextWake(waiting, signal);
            }
          }
        },
      }),
      isPublic: true,
    },
    setServing(isServing) {
      status = isServing ? Status.SERVING : Status.NOT_SERVING;
      wakeAll();
    },
    endWatches() {
      isEnding = true;
      wakeAll();
    },
  };
}

/** The standard health service and its switch. */
export interface GrpcHealth {
  readonly registration: ServiceRegistration;
  /** Sets the status of all names, including the empty one for the whole server. Watchers receive it at once. */
  setServing(isServing: boolean): void;
  /** Ends all watches with DRAINING after their last status. Later watches receive the status and end. */
  endWatches(): void;
}

/** Resolves when its function in the set is called or the signal fires, and removes that function. */
function nextWake(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      waiting.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    waiting.add(wake);
    signal.addEventListener("abort", wake);
  });
}
