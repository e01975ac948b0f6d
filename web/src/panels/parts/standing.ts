/** Where the panels stand: in the app, or in a file of their own, where no link leads into the app. */

let alone = false;

export function standAlone(): void {
  alone = true;
}

export const standsAlone = (): boolean => alone;
