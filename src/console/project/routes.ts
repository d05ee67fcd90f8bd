import type { Route } from "../route.ts";

/** A project's pages, in the order of the menu. */
export const PROJECT_ROUTES: readonly Route[] = [
  {
    path: "",
    menu: "",
    title: "Balance",
    load: async () => (await import("./balance-page.tsx")).BalancePage,
  },
  {
    path: "usage",
    menu: "usage",
    title: "Usage",
    load: async () => (await import("./usage-page.tsx")).UsagePage,
  },
  {
    path: "deposits",
    menu: "deposits",
    title: "Deposits",
    load: async () => (await import("./deposits-page.tsx")).DepositsPage,
  },
  {
    path: "prices",
    menu: "prices",
    title: "Prices",
    load: async () => (await import("./prices-page.tsx")).PricesPage,
  },
  {
    path: "dwallets",
    menu: "dwallets",
    title: "dWallets",
    load: async () => (await import("./dwallets-page.tsx")).DWalletsPage,
  },
  {
    path: "dwallets",
    menu: "dwallets",
    title: "dWallet",
    hasId: true,
    load: async () => (await import("./dwallet-page.tsx")).DWalletPage,
  },
  {
    path: "signs",
    menu: "signs",
    title: "Sign requests",
    load: async () => (await import("./signs-page.tsx")).SignsPage,
  },
  {
    path: "signs",
    menu: "signs",
    title: "Sign request",
    hasId: true,
    load: async () => (await import("./sign-page.tsx")).SignPage,
  },
  {
    path: "users",
    menu: "users",
    title: "Users",
    load: async () => (await import("./users-page.tsx")).UsersPage,
  },
  {
    path: "users",
    menu: "users",
    title: "User",
    hasId: true,
    load: async () => (await import("./user-page.tsx")).UserPage,
  },
  {
    path: "sessions",
    menu: "sessions",
    title: "Sessions",
    load: async () => (await import("./sessions-page.tsx")).SessionsPage,
  },
  {
    path: "keys",
    menu: "keys",
    title: "Keys",
    load: async () => (await import("./keys-page.tsx")).KeysPage,
  },
];
