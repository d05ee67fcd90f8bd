import { createServiceImplSpec } from "@connectrpc/connect";
import type { RequestGate } from "./calls/call-parts.ts";
import type { ServiceRegistration } from "./calls/service-registration.ts";
import { createGrpcHealth, type GrpcHealth } from "./grpc/grpc-health.ts";
import { createGrpcReflection } from "./grpc/grpc-reflection.ts";
import type { StreamSpec } from "./streaming/run-stream.ts";
import type { UnarySpec } from "./unary/run-unary.ts";

/** Adds the server's own services to the application's. */
export function addOwnServices(
  application: readonly ServiceRegistration[],
  { grpcHealth = true, grpcReflection = true }: OwnServiceOptions,
): ServedServices {
  const health = createGrpcHealth(application.map(({ service }) => service));
  const services = grpcHealth ? [...application, health.registration] : application;
  const reflection = grpcReflection ? createGrpcReflection(services.map(({ service }) => service)) : [];
  return { services: [...services, ...reflection], health };
}

/** Selects the server's own services. */
export interface OwnServiceOptions {
  /** Whether to serve `grpc.health.v1`, to all callers. Default true. */
  readonly grpcHealth?: boolean;
  /** Whether to serve reflection, to all callers. Default true. */
  readonly grpcReflection?: boolean;
}

/** All services of a server. */
export interface ServedServices {
  readonly services: readonly ServiceRegistration[];
  /** The switch of the health service, present even when the service is off. */
  readonly health: GrpcHealth;
}

/** Combines the gates of both kinds of service; `openGate` is for public ones. Default: both admit every call. */
export function chooseGate(
  services: readonly ServiceRegistration[],
  gate: RequestGate = () => {},
  openGate: RequestGate = () => {},
): RequestGate {
  const open = new Set(services.filter(({ isPublic }) => isPublic).map(({ service }) => service.typeName));
  return (context) => (open.has(context.service.typeName) ? openGate : gate)(context);
}

/** Returns the methods that the transport serves on its own path, by their path, `/package.Service/Method`. */
export function ownSpecsOf(services: readonly ServiceRegistration[]): Map<string, OwnSpec> {
  const specs = services.flatMap(({ service, implementation }) =>
    Object.values(createServiceImplSpec(service, implementation).methods),
  );
  return new Map(
    specs
      .filter((spec) => spec.kind === "unary" || spec.kind === "server_streaming")
      .map((spec) => [`/${spec.method.parent.typeName}/${spec.method.name}`, spec]),
  );
}

/** A method that the transport serves on its own path. */
export type OwnSpec = UnarySpec | StreamSpec;
