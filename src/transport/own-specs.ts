import { createServiceImplSpec } from "@connectrpc/connect";
import type { ServiceRegistration } from "./service-registration.ts";
import type { StreamSpec } from "./streaming/invoke-stream.ts";
import type { UnarySpec } from "./unary/invoke-unary.ts";

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
