/** What campaigns can have to say, as rows of the error table. */
export const CAMPAIGN_ERRORS = {
  CAMPAIGN_EXISTS: {
    message: 'There is already an unfinished campaign called {name}.',
    hint: 'Continue it with "keepwell campaign resume {name}", or give this one another name with --name.',
    exitCode: 2,
    httpStatus: 409,
  },
  CAMPAIGN_BUSY: {
    message: '{what} is in use by another campaign right now.',
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
    message: 'The campaign {name} cannot be continued: {problem}',
    hint: 'Start a new one with "keepwell campaign run FILE --name OTHER".',
    exitCode: 2,
    httpStatus: 409,
  },
  CAMPAIGN_BOOK: {
    message: 'The results of campaigns cannot be saved in {path}: {problem}.',
    hint: 'Fix the problem and try again: nothing that was saved is lost.',
    exitCode: 1,
    httpStatus: 500,
  },
} as const;
