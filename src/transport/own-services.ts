import { createGrpcHealth, type GrpcHealth } from "./grpc-health.ts";
import { createGrpcReflection } from "./grpc-reflection.ts";
import type { RequestGate } from "./guard-call.ts";
import type { ServiceRegistration } from "./service-registration.ts";

/** Which services of its own a server has beside the application's. */
export interface OwnServiceOptions {
  /** Whether `grpc.health.v1` is served, to callers of all kinds. Default true. */
  readonly grpcHealth?: boolean;
  /** Whether server reflection is served, to callers of all kinds. Default true. */
  readonly grpcReflection?: boolean;
}

/** All services of a server. */
export interface ServedServices {
  readonly services: readonly ServiceRegistration[];
  /** The switch of the health service, also where nobody can call it. */
  readonly health: GrpcHealth;
}

/** Adds to the application's services those that every server has. */
export function addOwnServices(
  application: readonly ServiceRegistration[],
  { grpcHealth = true, grpcReflection = true }: OwnServiceOptions,
): ServedServices {
  const health = createGrpcHealth(application.map(({ service }) => service));
  const services = grpcHealth ? [...application, health.registration] : application;
  const reflection = grpcReflection ? createGrpcReflection(services.map(({ service }) => service)) : [];
  return { services: [...services, ...reflection], health };
}

/** A gate of each kind of service: `openGate` for those that are public. Default: both let everyone through. */
export function chooseGate(
  services: readonly ServiceRegistration[],
  gate: RequestGate = () => {},
  openGate: RequestGate = () => {},
): RequestGate {
  const open = new Set(services.filter(({ isPublic }) => isPublic).map(({ service }) => service.typeName));
  return (context) => (open.has(context.service.typeName) ? openGate : gate)(context);
}
