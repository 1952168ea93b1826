/** What campaigns can have to say, as rows of the error table. */
export const CAMPAIGN_ERRORS = {
  CAMPAIGN_EXISTS: {
    message: 'There is an unfinished campaign called {name} already.',
    hint: 'Go on with it ("keepwell campaign resume {name}"), or give this one another name with --name.',
    exitCode: 2,
    httpStatus: 409,
  },
  CAMPAIGN_BUSY: {
    message: '{what} is in use by another keepwell campaign just now.',
    hint: 'Wait until it is over, or end it with Ctrl-C where it runs.',
    exitCode: 1,
    httpStatus: 409,
  },
  NO_SUCH_CAMPAIGN: {
    message: 'There is no campaign {name}.{meant}',
    hint: 'See "keepwell campaign list".',
    exitCode: 4,
    httpStatus: 404,
  },
  CAMPAIGN_CHANGED: {
    message: 'The campaign {name} cannot go on: {problem}',
    hint: 'Begin it anew with "keepwell campaign run FILE --name OTHER".',
    exitCode: 2,
    httpStatus: 409,
  },
  CAMPAIGN_BOOK: {
    message: 'The results of campaigns cannot be kept in {path}: {problem}.',
    hint: 'Mend what is in the way and try again: nothing that was written is lost.',
    exitCode: 1,
    httpStatus: 500,
  },
} as const;
