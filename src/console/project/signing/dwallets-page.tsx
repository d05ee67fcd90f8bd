import type { JSX } from "preact";
import { PageFrame } from "../../design/page-frame.tsx";
import { DWalletsList } from "./dwallets-list.tsx";

export function DWalletsPage(): JSX.Element {
  return (
    <PageFrame title="dWallets" lead="Keys in two halves: one of the user, one of the network.">
      <section class="panel">
        <DWalletsList />
      </section>
    </PageFrame>
  );
}
