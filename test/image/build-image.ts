import { existsSync } from "node:fs";
import path from "node:path";
import { ROOT } from "../support/source-files.ts";
import type { ContainerStore } from "./container-store.ts";
import { runCommand } from "./run-command.ts";

/** The bases of the Dockerfile; undefined: those that `deploy/image/make-bases.sh` makes. */
export interface Bases {
  readonly buildBase: string | undefined;
  readonly base: string | undefined;
}

const CERTIFICATES = "/etc/ssl/certs";

/** Builds the image from this checkout and returns its name. */
export async function buildImage(store: ContainerStore, bases: Bases): Promise<string> {
  if (bases.base === undefined || bases.buildBase === undefined) await makeBases(store);
  const { base = "localhost/tss-base", buildBase = "localhost/tss-build-base" } = bases;
  const name = "localhost/threshold-signing-service:test";
  // A registry behind this machine's proxy may have a certificate that only this machine knows.
  const bundle = path.join(CERTIFICATES, "ca-certificates.crt");
  const trust = existsSync(bundle)
    ? ["--volume", `${CERTIFICATES}:${CERTIFICATES}:ro`, "--build-arg", `NODE_EXTRA_CA_CERTS=${bundle}`]
    : [];
  const settings = ["--isolation", "chroot", "--layers", "--format", "docker", "--network", "host"];
  const names = ["--build-arg", `BASE=${base}`, "--build-arg", `BUILD_BASE=${buildBase}`, "--tag", name];
  await store.buildah(["bud", ...settings, ...trust, ...names, ROOT], true);
  return name;
}

async function makeBases(store: ContainerStore): Promise<void> {
  const wanted = ["localhost/tss-base", "localhost/tss-build-base"];
  const images = await store.buildah(["images", "--format", "{{.Name}}"]);
  if (wanted.every((name) => images.split("\n").includes(name))) return;
  await runCommand(path.join(ROOT, "deploy/image/make-bases.sh"), [], {
    shown: true,
    environment: { ...store.environment, BUILDAH_OPTIONS: store.options.join(" ") },
  });
}
