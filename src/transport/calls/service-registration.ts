import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";

/** A service and its implementation. {@link registerService} creates it and checks that they match. */
export interface ServiceRegistration {
  readonly service: DescService;
  readonly implementation: Partial<ServiceImpl<DescService>>;
  /** Whether calls skip the server's gate. Default false. */
  readonly isPublic?: boolean;
}

/** Pairs a service with its implementation. Omitted methods answer UNIMPLEMENTED. */
export function registerService<T extends DescService>(
  service: T,
  implementation: Partial<ServiceImpl<T>>,
): ServiceRegistration {
  // One list contains services of all kinds, so the concrete type ends here.
  return { service, implementation: implementation as Partial<ServiceImpl<DescService>> };
}
