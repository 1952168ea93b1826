/** How a driver has Docker Compose make the container of a service. */

export interface ComposePlace {
  /** Both absolute. */
  readonly file: string;
  readonly projectDir: string;
}

/** The project of one compose file. What fails is thrown as an AppError; an aborted signal, as its reason. */
export interface ComposeProjectUp {
  /** What it is called in the labels of its containers. */
  name(signal: AbortSignal): Promise<string>;
  /** Makes and starts the service, and unless `alone` what it depends on. One at a time for each project. */
  up(service: string, options: { readonly anew: boolean; readonly alone: boolean }, signal: AbortSignal): Promise<void>;
}

export interface Composer {
  /** `fresh`: the file is read again; otherwise what is known of it is enough. */
  project(place: ComposePlace, fresh: boolean): ComposeProjectUp;
}
