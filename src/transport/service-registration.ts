import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";

/** A service and what implements it. Made by {@link registerService}, which checks that they belong together. */
export interface ServiceRegistration {
  readonly service: DescService;
  readonly implementation: Partial<ServiceImpl<DescService>>;
  /** Whether the server's gate is not asked about its calls. Default false. */
  readonly isPublic?: boolean;
}

/** Pairs a service with its implementation. Methods that are left out answer UNIMPLEMENTED. */
export function registerService<T extends DescService>(
  service: T,
  implementation: Partial<ServiceImpl<T>>,
): ServiceRegistration {
  // One list holds services of all kinds, so the concrete type ends here.
  return { service, implementation: implementation as Partial<ServiceImpl<DescService>> };
}
