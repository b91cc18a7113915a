### The page’s words. See docs/page.md for the terms; each message is in every language.

## Steps of a turn, and places where it can fail

step-gather = Request
step-search = Search
step-consent = Consent
step-clarify = Question
step-specify = Specification
step-probe = Probes
step-test = Tests
step-implement = Implementation
step-compare = Comparison
step-verify = Verification
step-repair = Repair
step-strengthen = Mutation check
step-register = Registration
step-prepare = Arguments
step-execute = Execution
step-mend = Mending
step-refactor = Refactoring
step-plan = Plan
step-delegate = Agents
step-respond = Answer
step-queued = Queue
step-waiting = Set-up
step-tool_found = Tool found
step-no_tool_found = No tool fits
step-lessons_shown = Lessons
step-stub = Tests without an implementation
step-delegation = Handed to an agent
step-code_run = Code
step-coder = The coder
step-proxy = The user proxy
step-builder = The project builder
step-tool_standing_changed = Standing
step-tool_mismatch = Tool does not fit
step-project_check = Check
step-create_file = Create a file
step-write_file = Write a file
step-replace_lines = Replace lines
step-insert_lines = Insert lines
step-remove_lines = Remove lines
step-delete_file = Delete a file
step-execute_py_file = Run
step-run_tests = Run the tests
step-read_run = Read more output
step-add_package = Ask for a package
step-finish = Finish
step-give_up = Give up
step-restored = Restore
step-building = Build
step-acting = Action
step-turn_failed = Turn failed
step-turn_stopped = Stopped
step-turn_resumed = Resumed
step-internal = Internal
resumed-there = The server was interrupted. The turn goes on where it was.
resumed-again = The server was interrupted. The turn began again.
told-resumed = Resumed after an interruption.

## The current activity

now-gather = Reading the request
now-search = Searching the library
now-clarify = Asking what is missing
now-specify = Writing the specification
now-probe = Asking the hosts that the tool needs
now-test = Writing the tests
now-implement = Writing the implementation
now-compare = Comparing the candidates
now-verify = Running the tests in the sandbox
now-repair = Repairing the implementation
now-strengthen = Running the tests against planted bugs
now-register = Adding the tool to the library
now-prepare = Reading the arguments
now-execute = Running the tool
now-mend = Mending the tool
now-refactor = Making the tool faster
now-plan = Working through the steps
now-delegate = An agent is at work
now-respond = Writing the answer
now-queued = Number { NUMBER($place) } in the queue
now-queued-reason = Number { NUMBER($place) } in the queue: the machines that run requests are still being set up
now-waiting = Waiting for the set-up
now-stub = Checking that the tests fail without an implementation
now-delegation = An agent is at work
now-code_run = Running code in the sandbox
now-project_check = Checking the project
now-execute_py_file = Running it in the sandbox
now-run_tests = Running the tests in the sandbox
now-other = Working
now-asked-again = No answer from the model, asking again ({ NUMBER($attempt) })
now-silent-again = The model has been silent for { $time }. After { $limit } it is asked again, or the request ends with an error.
now-silent-fails = The model has been silent for { $time }. After { $limit } the request ends with an error.

## The front door: what an empty conversation shows

door-loading = Loading the conversation
door-missing = This conversation isn’t here
door-missing-text = It was deleted, or it belongs to someone else. Start a new one below, or choose one of yours from the list.
door-title = Ask for it. If no tool exists, one gets built.
door-ask = You ask
door-ask-text = In your own words, with files if you like.
door-build = A tool runs
door-build-text = One from the library at once. If none fits, one is written and tested in front of you.
door-keep = It stays
door-keep-text = The next request of that kind takes seconds instead of a build.
door-no-sandbox = Code can’t run at the moment.
door-examples = Try one of these
door-sample = { $name } comes along
example-library = From the library
example-build = Builds a tool
example-file = With a file
example-plan = Several steps
example-script = A script
example-project = A project
example-library-request = What is 15 percent of 300?
example-build-request = Turn 'Meet me at noon' into Morse code
example-file-request = Plot revenue over month from sales.csv
example-plan-request = Reverse 'good morning' and then count the vowels of that
example-script-request = Write a script squares.py that prints the first 10 squares and run it
example-project-request = Build a command line tool that counts the words of a text file
recent-built = Recently built tools
recent-library = In the library
recent-all = All tools
recent-none = No tools yet
recent-none-text = The first request that needs one adds it here.

## The composer, files of a request, and requests on their way

chat-label = Conversation
chat-messages = Messages
chat-latest = Latest
chat-earlier = Show earlier requests
composer-label = Your request
composer-empty = Ask for something…
composer-with-files = { $count ->
    [one] What should I do with this file?
   *[other] What should I do with these files?
}
composer-attach = Attach files
composer-attach-limits = Attach files: { $limits }
composer-files = Files
composer-send = Send
composer-hint = { $send } to send · { $line } for a new line · drop files anywhere · { $list } for shortcuts
composer-pasted = pasted
temporary = Temporary
temporary-note = Temporary: in no list and no search, and nothing is learnt from it. It is deleted a day after its last request, or now if you want; tools that it builds stay.
temporary-delete = Delete now
temporary-deleted = Temporary conversation deleted.
model-switch = Model: { $model }
model-usual = { $model } (settings)
model-menu = Model of this conversation
conversation-cost = Cost of this conversation: { $tokens }
composer-too-long = { $length } characters; at most { $most } can be sent. Attach a long text as a file.
files-attached = Attached files
files-remove = Remove { $name }
files-as-text = As text
files-of-request = Files of the request
files-limits = { $count ->
    [one] one file, up to { $size }
   *[other] up to { $count } files, { $size } together
}
files-limits-each = { $count ->
    [one] one file, up to { $each }
   *[other] up to { $count } files of { $each }, { $size } together
}
files-refused = { $name } was not attached: { $problem }.
files-refused-remedy = Attach a smaller file, a part of it, or fewer files.
files-name-begins = its name begins with { $sign }
files-name-signs = its name contains characters that are not allowed
files-name-long = its name is too long
files-too-many = { $count ->
    [one] one file may come with a request
   *[other] { $count } files may come with a request
}
files-one-too-large = one file may have { $most }, this has { $size }
files-too-large = all files together may have { $most }, these have { $size }
pending-sending = Sending
pending-uploading = Sending { $name }: { $share }
pending-waits = Will be sent when the connection is back
pending-cancel = Cancel
pending-silent = The server did not answer.
pending-silent-remedy = Check that it runs, then try again.
pending-file = { $name } could not be sent: { $problem }
pending-file-remedy = Check that the server runs and that the file is still there, then try again.
pending-not-sent = Not sent
pending-again = Send again
pending-edit = Edit
lacking = { $tool } can do this. What is missing?
requests-title = Example requests
requests-own = You can remove your own earlier requests, which only you see.
requests-open = Conversation with “{ $request }”
requests-open-title = Open the conversation
requests-forget = Remove
requests-forget-question = Stop matching this tool to “{ $request }”? This applies to everyone.
ended-answered = Done: { $request }
ended-asked = A question: { $request }
ended-declined = Declined: { $request }
ended-failed = Not done: { $request }
ended-stopped = Stopped: { $request }

## A turn: its request, what it leaves, and what can be done with it

turn-keep = Save these steps as a tool
turn-by-hand = Run by hand
turn-disputes = Correction of an earlier answer
wrong = This is wrong
wrong-value = The right value
wrong-value-note = Correct it here. It becomes a test that the tool has to pass.
wrong-complaint = What is wrong (optional)
wrong-words = That is wrong.
wrong-send = Correct it
answer-cut-off = This answer is incomplete.
answer-corrected = This answer was wrong. It is corrected below: { $tool }, version { $version }.
answer-checked = { $of ->
    [one] Checked by another implementation, which returns the same
   *[other] Checked by { $of } others, which return the same
}
answer-doubted = Another implementation of this tool returns { $other }
recomputed = { $computed ->
    [one] { $changed } of your { $computed } earlier answer changes
   *[other] { $changed } of your { $computed } earlier answers change
}
recomputed-title = Your earlier answers, computed again
recomputed-unknown = { $unknown } could not be computed again.
turn-edit = Edit the request
turn-again = Ask again
turn-fork = Continue from here in a new conversation
versions = Versions of this request
versions-older = Older version
versions-newer = Newer version
told-version = Version { $number } of { $count } is shown.
composer-edits = Another version of an earlier request.
turn-rephrase = Rephrase
turn-declined = I can’t do this yet
turn-nearest = Nearest tools:
turn-after = You often ask next
turn-stop = Stop
turn-stopping = Stopping
turn-notify = Notify me when it ends
turn-thoughts = Thinking
turn-actions = Actions
turn-undelivered = The result was not delivered, so the schedule is paused
turn-answer = the answer
turn-activity = Activity
answer-code = code block { NUMBER($number) }
answer-diagram = Diagram: { $text }
problem-remedy = What to do:
questions = Questions
questions-answer = Answer
consents-schedule = yes, at these times
consents-once = this once
consents-always = always
consents-no = no
said-consent = May { $tool } of the server { $server } be called? ({ $address })
said-consent-why = With { $arguments }. { $description ->
    [none] {""}
   *[other] The server says of it: “{ $description }”.
} It runs outside the sandbox{ $effect ->
    [reads] {", and by its own claim only reads"}
   *[other] {""}
}.
said-network = { $needs ->
    [hosts] May { $tool } send requests to { $hosts }?
    [limits] May { $tool } take more than usual in a call?
   *[other] May { $tool } have what it needs: { $needs }?
}
said-network-why = { $sent ->
    [none] {""}
   *[other] It sends { $sent }. Its arguments may be part of that.{"\u000A"}{ $secrets ->
        [none] {""}
       *[other] With the secrets: { $secrets }.{"\u000A"}
    }{ $near ->
        [none] {""}
       *[other] In your own network: { $near }.{"\u000A"}
    }
}{ $packages ->
    [none] {""}
   *[other] Its code needs { $packages }, which are installed for it in the sandbox.{ $size ->
        [none] {""}
       *[other] {"\u000A"}Their size: { $size } MB.
    }{ $unlicensed ->
        [none] {""}
       *[other] {"\u000A"}Their licence is not known: { $unlicensed }.
    }{"\u000A"}{ $vulnerable ->
        [none] They have no known vulnerabilities.
        [unknown] Whether they have known vulnerabilities is not known.
       *[other] Known vulnerabilities: { $vulnerable }.
    }{"\u000A"}
}{ tool-limits }
said-pictures = May { $model } at { $hosts } see { $files }?
said-pictures-why = It gets the pictures themselves, as code can’t read what they show.
schedule-times = { $every ->
    [hour] every hour, { $minute } minutes past
    [day] every day at { $time }
    [workday] Monday to Friday at { $time }
    [week] every { $weekday ->
        [mon] Monday
        [tue] Tuesday
        [wed] Wednesday
        [thu] Thursday
        [fri] Friday
        [sat] Saturday
       *[sun] Sunday
    } at { $time }
    [month] on day { $day } of every month at { $time }
   *[cron] at the times { $cron }
} ({ $timezone })
said-schedule = Shall { $call }, version { $version }, run { schedule-times }?
said-schedule-why = No model is asked then, and the results come to a conversation of their own.
said-scheduled = { $tool }, version { $version }, now runs { schedule-times }. Its results come to the conversation “{ $name }”.
said-not_scheduled = No schedule was added.
said-witness = Two implementations that passed the same tests give different results. Which one is right?
said-witness-why = The second one is of a candidate for { $tool }, which was not chosen.
said-readings = Two readings of the request give different results. Which one is right?
said-example = Which one do you mean?
said-example-intro = Your examples can’t all be right: { $call } gives { $first } in one and { $second } in another.
said-request = What do you want done instead?
said-request-intro = { $tool } can do this, but not with these values.
said-values-intro = To do this I still need:
said-refused = Refused; the details say why.
said-failed = It went no further here; the details say why.
said-tool_stays = The tool stays as it is; the details say why.
said-suite_stays = The suite stays as it is; the details say why.
said-drawn = { $written ->
    [one] { $written } candidate written
   *[other] { $written } candidates written
}; { $usable } can be run.
said-declined = The model declines it.
said-contradiction = The examples of the request can’t all be right: { $call } gives { $first } in one and { $second } in another.
said-known = { $tool } is in the library already, and does this.
said-maybe_known = { $tool } is in the library, and may do this.
said-red = { $tests ->
    [one] { $tests } test, failing without an implementation, as it should.
   *[other] { $tests } tests, all failing without an implementation, as they should.
}{ $examples ->
    [0] {""}
   *[other] {" "}From the request’s own examples: { $examples }.
}
said-own_call_none = No candidate returns a value for the request’s own call.
said-own_call_right = The person says that { $value } is right.
said-own_call_differs = On the request’s own call one candidate returns { $first }, and another one { $second }.
said-own_call_agrees = The candidates agree on the request’s own call.
said-proposed = { $tool } waits for your acceptance.
said-twin = { $tool } is in the library already, and each passes the other’s tests: it is used.
said-meanwhile = { $tool } was registered by another request meanwhile; that one is used.
said-faster = It is { $factor }× faster: { $before } ms of processor time became { $after } ms. It passes the same tests and returns the same for { $calls } calls.
said-empty_library = The library is empty.
said-far = The nearest tool, { $tool }, is too far away: { NUMBER($share, maximumFractionDigits: 1) } %, below { NUMBER($floor, maximumFractionDigits: 1) } %.
said-doubtful = The model chose { $tool }, but the search gives it only { NUMBER($share, maximumFractionDigits: 1) } %, below { NUMBER($floor, maximumFractionDigits: 1) } %.
said-unsure = The model could not choose, and the search alone is not sure enough.
said-alone = The model could not choose; the search alone decided.
said-disputed = An earlier result of { $tool } is said to be wrong.
said-none_fits = No tool does what is asked for.
said-needs = What is missing: { $names }
said-unfit = The request’s values don’t fit it.
said-no_tool = No tool can do this.
by-hand-returned = The result: { $value }
by-hand-raised = The tool refused this input: { $problem }
by-hand-killed = The sandbox ended the tool: { $problem }
questions-yes = yes
questions-no = no
birth-new = New tool: { $name }
birth-version = { $name } is now version { NUMBER($version) }
birth-signature = Signature of { $name }
birth-tests =
    { $total ->
        [one] { $passed } of { $total } test passed
       *[other] { $passed } of { $total } tests passed
    }
birth-caught =
    { $total ->
        [one] caught { $caught } of { $total } planted bug
       *[other] caught { $caught } of { $total } planted bugs
    }
birth-open = Open
birth-open-tool = Open { $name }
birth-try = Try
birth-try-tool = Try { $name }
built-earlier = { $tool } was { $link }
built-earlier-faster = { $tool } was { $link }; { $now } instead of { $then }
built-earlier-link = built earlier in this conversation

## The command palette

palette-open = Search
palette-label = Search and commands
palette-placeholder = Search conversations, tools, commands…
palette-untitled = Untitled
palette-found = { $count ->
    [0] Nothing found
    [one] One result
   *[other] { $count } results
}
palette-everything = Everything
palette-kind = Kind of result
palette-ever = Any time
palette-time = Time
palette-days = { $days ->
    [365] Last year
   *[other] Last { $days } days
}
palette-files = With files
palette-of-recent = Used last
palette-of-action = Commands
palette-of-conversation = Conversations
palette-of-tool = Tools
palette-of-project = Projects
palette-of-lesson = Lessons
palette-of-ask = Ask
palette-begin = New conversation
palette-temporary = New temporary conversation
palette-project = New project
palette-share = Share this conversation
palette-attach = Attach files
palette-stop = Stop the running turn
palette-export-md = Export this conversation as Markdown
palette-export-json = Export this conversation as JSON
palette-activity = Show the activity
palette-library = Show the library
palette-lessons = Show the lessons
palette-panel = Show or hide the panel
palette-wide = Open the panel wide, or beside the conversation
palette-wrap = Wrap long lines of code, or not
palette-settings = Settings
palette-browser = Language, theme and notifications
palette-list = Keyboard shortcuts

## Keys and shortcuts

key-ctrl = Ctrl
key-shift = Shift
key-enter = Enter
key-delete = Delete
key-escape = Esc
shortcuts-title = Keyboard shortcuts
shortcut-send = Send the request
shortcut-line = New line
shortcut-edit = Edit the last request, in an empty composer
shortcut-stop = Stop the running turn
shortcut-focus = Go to the composer
shortcut-palette = Search and commands
shortcut-panel = Show or hide the panel
shortcut-begin = New conversation
shortcut-rename = Rename the conversation in focus
shortcut-delete = Delete the conversation in focus
shortcut-list = Show these shortcuts

## Agents

agent-user = You
agent-proxy = user proxy
agent-coder = coder
agent-toolsmith = toolsmith
agent-builder = project builder

## Loading

loading = Loading
part-not-loaded = This part of the page could not be loaded.
try-again = Try again
close = Close

## Values

value-table = Table, { $count ->
    [one] { $count } row
   *[other] { $count } rows
  }, { $columns ->
    [one] { $columns } column
   *[other] { $columns } columns
  }, { $size }
value-list = List, { $count ->
    [one] { $count } item
   *[other] { $count } items
  }, { $size }
value-json = Object, { $count ->
    [one] { $count } member
   *[other] { $count } members
  }, { $size }
value-text = Text, { $count ->
    [one] { $count } character
   *[other] { $count } characters
  }, { $size }
value-number = Number
value-other = Value, { $size }
value-show = Show it ({ $size })
value-not-loaded = It could not be loaded: { $message }.
value-copied = the value
value-wide = Open wide
value-view = View
value-filter = Filter rows
value-found = { NUMBER($found) } of { $count ->
    [one] { $count } row
   *[other] { $count } rows
  }
value-no-rows = No row has these words.
value-sort = Sort by { $column }
value-as-csv = CSV
value-as-json = JSON
value-as-text = Text
view-table = Table
view-chart = Chart
view-preview = Preview
view-source = Source
number-exact = Exact value
text-all = Show all { NUMBER($count) } characters
text-more = Show more ({ $size } are left, { $count } characters)
text-less = Show less
tree-back = Back
tree-filter = Filter members
tree-open-all = Open all
tree-close-all = Close all
tree-nothing = No member has this text.
tree-rows = { $count ->
    [one] { $count } row
   *[other] { $count } rows
  }
tree-items = { $count ->
    [one] { $count } item
   *[other] { $count } items
  }
tree-members = { $count ->
    [one] { $count } member
   *[other] { $count } members
  }
changes-none = Nothing changed.
changes-same = { $count ->
    [one] { $count } unchanged line
   *[other] { $count } unchanged lines
  }

## Files

files-made = Files that the tool made
file-open = Open { $name }
file-download = Download { $name }
file-before = Previous file
file-after = Next file
file-of = { NUMBER($index) } of { NUMBER($count) }
file-empty = It is empty.
file-not-text = It is not text; download it to open it.
file-too-large = It is too large to be shown here; download it.
file-not-json = It is not valid JSON: { $message }
file-table = { $count ->
    [one] { $count } row
   *[other] { $count } rows
  }, { $columns ->
    [one] { $columns } column
   *[other] { $columns } columns
  }
picture-zoom = Zoom
picture-larger = Larger
picture-smaller = Smaller
picture-fits = Fits
picture-failed = The picture could not be shown; download it to open it.
notebook-cells = Cells of the notebook
notebook-cell = Cell { NUMBER($number) }
notebook-output = Output of cell { NUMBER($number) }
notebook-more = { $count ->
    [one] { $count } more cell; download the notebook to see it.
   *[other] { $count } more cells; download the notebook to see them.
  }
notebook-problem = It is not a notebook: { $message }

## Running a tool

execution-tool = Tool
execution-server = Server
execution-arguments = Arguments
execution-made = Made
execution-refused = Refused files
execution-printed = What it printed
execution-result = Result
execution-empty = (empty)
execution-shortened = shortened
execution-raised = Raised
execution-error = Error
execution-traceback = Traceback
execution-ended = Ended by the sandbox
execution-reason = Reason

## Charts

chart-of = Chart: { $what }
chart-what = { $form ->
    [bar] Bars
    [scatter] Points
   *[line] Lines
  } over { NUMBER($count) } places, from { $first } to { $last }. The arrow keys read the values.
chart-points = Values of the chart
chart-part = { $drawn } of { $of } rows drawn
chart-as-table = Show as table
chart-show = Show as chart
chart-form = Form
chart-line = Lines
chart-bar = Bars
chart-scatter = Points
chart-across = Across
chart-columns = Columns that are drawn
chart-row-number = Row number
chart-gap = no value
## Why a turn failed

cause-budget = A limit was reached
cause-budget-calls = The limit of { $limit } model calls was reached
cause-budget-tokens = The limit of { $limit } tokens was reached
cause-budget-seconds = The limit of { $limit } seconds was reached
cause-budget-cost = The limit of { $limit } US dollars was reached
cause-budget-steps = The limit of { $limit } steps was reached
remedy-budget = Ask for less, or raise the limit in the settings.
remedy-budget-steps = Continue the build, or allow it more steps.
cause-budget-month = The limit of { $limit } US dollars for this month was reached
remedy-budget-month = Raise the limit of the month in the settings, or choose a model that costs nothing.
cause-model = The model gave no usable answer
cause-model-unreachable = { $server } can’t be reached
cause-model-slow = { $server } took too long to answer
cause-model-interrupted = The answer of { $server } broke off
cause-model-failing = { $server } answers with an error
cause-model-overloaded = { $server } gets too many requests
cause-model-no_access = { $server } refused access
cause-model-no_quota = The account at { $server } has no quota left
cause-model-unknown_model = { $server } does not have the model { $model }
cause-model-no_model_server = { $server } does not answer like a model server
cause-model-rejected = { $server } refused the request
cause-model-too_long = The request is too long for { $model }
cause-model-declined = Declined by { $model }
cause-model-unusable = The answer of { $model } can’t be used
remedy-model = Try again, or choose another model in the settings.
remedy-model-unreachable = Check that the server runs, or choose another one in the settings.
remedy-model-slow = Try again, choose a faster model, or allow it more time in the settings.
remedy-model-interrupted = Try again.
remedy-model-failing = Try again later, or check the server and its address in the settings.
remedy-model-overloaded = Wait a little, then try again.
remedy-model-no_access = Check the key in the settings.
remedy-model-no_quota = Check plan and payment of the account, or choose another server in the settings.
remedy-model-unknown_model = Choose a model of the server in the settings.
remedy-model-no_model_server = Check the address in the settings; it usually ends in /v1.
remedy-model-rejected = Choose another model in the settings; the test there shows what it can do.
remedy-model-too_long = Ask for less, begin a new conversation, or choose a model that takes more.
remedy-model-declined = Say it in other words.
cause-sandbox = The sandbox failed
cause-sandbox-missing = There is no sandbox to run code in
remedy-sandbox = Try again. If it fails again, the details name the cause.
remedy-sandbox-missing = The details say what this machine lacks.
cause-library = The tool library failed
cause-library-name = A tool can’t have this name
cause-library-exists = A tool named { $name } is there already
cause-library-missing = { $name } is not in the library, or not in this version
cause-library-modified = The files of { $name } differ from what was tested
cause-library-frozen = { $name } is frozen
cause-library-conflict = { $name } has changed meanwhile
cause-library-in_the_way = { $file } is in the way: it belongs to no tool
cause-library-unfinished = { $name } is not completely saved yet
remedy-library = Try again. If it fails again, the details name the cause.
remedy-library-name = Choose another name.
remedy-library-exists = Choose another name, or remove the other tool first.
remedy-library-missing = Look for it in the library.
remedy-library-modified = Restore its files; the details say how to keep the change.
remedy-library-frozen = Unfreeze it in the library, then ask again.
remedy-library-conflict = Look at the newest version, then try again.
remedy-library-in_the_way = Move the file away, or choose another name.
remedy-library-unfinished = Wait a little, then try again.
cause-request = The server does not accept this
cause-request-missing = This is not here any more
cause-request-busy = { $name } is busy
cause-request-full = There is no room for more at the moment
cause-request-name = “{ $name }” can’t be the name of a file
cause-request-folder = This folder may not be watched
cause-request-too_large = That is too much at once
cause-request-running = It still runs
cause-request-unfinished = Only a plan whose steps all used a tool can be saved
cause-request-settings = Some values can’t be used
cause-request-conflict = Something newer took the place of this
cause-request-modified = The file was changed after it was signed
cause-request-limits = A call of the tool would take { $amount } and gets at most { $most } here ({ $setting ->
    [memory] a quarter of the machine’s memory
   *[other] { $setting }
  })
remedy-request = The details name the cause.
remedy-request-missing = It may have been deleted in another window. Load the page again, or send the files again.
remedy-request-busy = Wait until the other action has ended, or stop it.
remedy-request-full = Wait until something has ended, or remove something.
remedy-request-name = Rename the file.
remedy-request-folder = Add it to WATCHED_FOLDERS in the settings of the server.
remedy-request-too_large = Send less, or fewer files.
remedy-request-running = Wait for its end.
remedy-request-unfinished = Ask for it in one request instead.
remedy-request-settings = Correct them; nothing was changed.
remedy-request-conflict = Look at it again, then repeat the change.
remedy-request-limits = Ask for less at once.
remedy-request-modified = Get it again from its author, and do not use this one.
cause-task = Not done
cause-task-frozen = { $name } is frozen, and the request needs a change of it
remedy-task = Say it in other words, or in smaller parts.
remedy-task-frozen = Unfreeze it in the library, then ask again.
cause-internal = Something broke here
cause-internal-interrupted = It was interrupted and can’t go on
cause-internal-database = The database can’t be used
cause-internal-embedder = The search by meaning does not work
cause-internal-setting = A setting of the server can’t be used
cause-internal-silent = The server is busy or ending
cause-internal-unsaved = The conversation can’t be saved at the moment
cause-internal-consent = { $name } needs your consent, which can’t be asked for in the middle of a larger task
remedy-internal = Try again. If it fails again, the details name the cause.
remedy-internal-unsaved = It goes on by itself when saving works again.
remedy-internal-consent = Allow it in the library, then ask again.
named-server = The model’s server
named-model = the model
named-name = This
problem-details = Details
cause-raised = The tool raised { $type }
cause-at-specify = I can’t do this yet
cause-at-test = No usable tests were written
cause-at-implement = No usable code was written
cause-at-verify = The tests kept failing
cause-at-clarify = Something is still missing
cause-at-plan = A step of the plan failed
cause-at-building = The project wasn’t finished
cause-at-internal = Something broke here
cause-at = { $step } failed
cause-other = Not done
remedy-at-clarify = Say all of it in one request.
remedy-at-implement = Describe more exactly what you need.
remedy-at-verify = Describe more exactly what you need.
remedy-at-building = Continue the build, or change the goal.
remedy-raised = Change the input, or say how such input is to be treated.
remedy-killed = Try again, with less at once.
remedy-refused = Ask for a smaller file, or for another kind.
reached-specify = The specification is written.
reached-test = Specification and tests are written.
reached-verify =
    { $total ->
        [one] Specification and tests are written, and the best implementation passes { $passed } of { $total } test.
       *[other] Specification and tests are written, and the best implementation passes { $passed } of { $total } tests.
    }
stopped-by-server = The server ended or was interrupted.

## States of a step

state-running = running
state-done = done
state-failed = failed
state-stopped = stopped
state-declined = declined
state-waiting = waiting

## The activity: the steps of a turn

activity = Activity
activity-steps = Steps
activity-earlier = Earlier request
activity-later = Later request
activity-turn = Request { $number } of { $count }
activity-place = { $number } of { $count }
activity-more = More of the activity
steps-expand = Expand all
steps-collapse = Collapse all
errors-only = Errors only
errors-shown = Only what failed is shown.
errors-none = Nothing failed.
errors-all = Show all
feed-search = Search these steps
feed-search-close = End the search
feed-found =
    { $count ->
        [0] Not found
       *[other] { $at } of { $count }
    }
feed-before = Previous place
feed-after = Next place
graph = Graph of the stages
graph-not-shown = The graph can’t be shown
progress = Progress
progress-again = { $stage } ×{ $attempt }
step-attempt = attempt { $number }
step-link = Link to this step: { $step }
step-link-title = Link to this step
decided-steps = It takes several steps.
decided-delegate = It is work for agents.
decided-answer = No tool is needed.
decided-question = Something has to be asked first.
decided-impossible = It can’t be done here.
outcome-answered = answered
outcome-asked = question
outcome-declined = declined
outcome-failed = failed
outcome-stopped = stopped
outcome-found = { $tool }, { $share } confidence
outcome-closest = { $tool } comes closest. { $reason }
outcome-lessons =
    { $count ->
        [one] { $count } lesson for: { $stage }
       *[other] { $count } lessons for: { $stage }
    }
outcome-tests =
    { $count ->
        [one] { $count } test written
       *[other] { $count } tests written
    }
outcome-stub =
    { $total ->
        [one] the only one fails, as it should
       *[other] all { $total } fail, as they should
    }
outcome-caught =
    { $mutants ->
        [one] caught { $killed } of { $mutants } planted bug
       *[other] caught { $killed } of { $mutants } planted bugs
    }
outcome-altered =
    { $tried ->
        [one] noticed { $noticed } of { $tried } altered outcome
       *[other] noticed { $noticed } of { $tried } altered outcomes
    }
outcome-compared = { $passed } of { $total } candidates are right
outcome-registered = { $name } is in the library, version { $version }
outcome-plan =
    { $total ->
        [one] { $done } of { $total } step done
       *[other] { $done } of { $total } steps done
    }
outcome-returned = { $tool } → { $value }
value-missing = A value is missing
outcome-mismatch = { $tool }: { $problem }
outcome-of-file = { $path }: { $what }
handed-to = Handed to: { $agent }
handed-to-user = Handed to you
handed-to-proxy = Handed to the user proxy
handed-to-coder = Handed to the coder
handed-to-toolsmith = Handed to the toolsmith
handed-to-builder = Handed to the project builder
agent-reply = Reply
lessons-for = Lessons of earlier requests, shown for: { $stage }
mismatch-ask = You are asked for what is missing.
mismatch-synthesize = A new tool is written instead.
failed-at = It failed here: { $step }
failed-at-above = It failed here: { $step }, see above.
what-to-do = What to do: { $remedy }
why = Why
gives = gives
confidence = { $share } confidence
understood-as = Understood as: { $request }
candidates-other = Other close matches
candidates-closest = Closest matches
candidates-more = { $count } more
plan = Steps of the plan
plan-needs =
    { $count ->
        [one] uses the result of { $steps }
       *[other] uses the results of { $steps }
    }
budget-spent = Spent so far:

## A tool's task, its tests and its code

specification-json = Specification as JSON
specification-signature = Signature
specification-returns = returns
specification-errors = errors
specification-yours = From your request, and always counted:
specification-examples = Examples
tests-passed = { $passed } of { $total } passed
tests-passed-failed = { $passed } of { $total } passed, { $failed } failed
stub-failed =
    { $total ->
        [one] The only test fails without an implementation, as it should.
       *[other] All { $total } tests fail without an implementation, as they should.
    }
stub-passed =
    { $passed ->
        [one] { $passed } of { $total } tests passed without an implementation, so it tests nothing.
       *[other] { $passed } of { $total } tests passed without an implementation, so they test nothing.
    }
repeats-same = Again in { $orders } order: same result.
repeats-other = Again in { $order } order: { $detail }.
order-reversed = reversed
order-shuffled = shuffled
test-passed = passed
test-failed = failed
test-error = error
test-skipped = skipped
test-dropped = dropped
test-why = Why { $name } did not pass
code-suite = Test suite
code-show = Show
view-changes = Changes
view-whole = Whole code
code-changes-of = Changes to the previous attempt
candidates = Candidates
candidate =
    { $draws ->
        [one] Candidate { $number }
       *[other] Candidate { $number } (written { $draws } times)
    }
candidate-passes =
    { $total ->
        [one] passes { $passed } of { $total } test
       *[other] passes { $passed } of { $total } tests
    }
candidate-differs = passes the tests, but returns other values than most
candidate-where = Where { $name } differs
candidate-code = Its code
candidate-code-of = Code of { $name }
difference-others = most return { $value }
difference-own = this one { $value }
dropped-label = Dropped tests
dropped-tests =
    { $count ->
        [one] { $count } test dropped, because most candidates contradict it:
       *[other] { $count } tests dropped, because most candidates contradict them:
    }
dropped-by =
    { $total ->
        [one] { $against } of { $total } candidate against it
       *[other] { $against } of { $total } candidates against it
    }
dropped-why = Why candidates fail { $test }
survivors =
    { $count ->
        [one] Show the { $count } planted bug that no test catches
       *[other] Show the { $count } planted bugs that no test catches
    }
survivor-line = Line { $line }
survivor-in = The planted bug in line { $line }

## Parts that a start sets up

part-search = Search by meaning
part-sandbox = The sandbox
part-tools = Built-in tools
progress-search = Search by meaning: { $done } of { $total }
progress-sandbox = The sandbox: { $done } of { $total }
progress-tools = { $done } of { $total } built-in tools
waits-for-search = the request then finds tools by meaning
waits-for-sandbox = code runs there only
waits-for-tools = one of them may do it, or serve a new tool

## Sandboxes

backend-docker = a Docker container
backend-bubblewrap = a bubblewrap container
backend-other = a container

## Conversations

conversations = Conversations
conversations-search = Search conversations
conversations-pinned = Pinned
conversations-today = Today
conversations-yesterday = Yesterday
conversations-week = Previous 7 days
conversations-month = Previous 30 days
conversations-found = Found
conversations-none-found = No conversation has these words.
conversation-new = New conversation
conversation-untitled = Untitled
conversation-title = Title of the conversation
conversation-running = running
conversation-unread = unread
conversation-actions = Actions: { $title }
conversation-rename = Rename
conversation-pin = Pin
conversation-unpin = Unpin
conversation-markdown = Export as Markdown
conversation-json = Export as JSON
conversation-delete = Delete
conversation-deleted = Deleted conversation
conversation-deleted-title = Deleted “{ $title }”
conversation-undo = Undo
conversation-dismiss = Dismiss
conversation-missing = This conversation isn’t here.
conversation-deleted-told = Conversation deleted. It can be restored with Undo.

## Figures

usage-calls =
    { $count ->
        [one] { $count } model call
       *[other] { $count } model calls
    }
usage-tokens =
    { $count ->
        [one] { $count } token
       *[other] { $count } tokens
    }
budget-calls =
    { $limit ->
        [one] { $spent } of { $limit } model call
       *[other] { $spent } of { $limit } model calls
    }
budget-tokens =
    { $limit ->
        [one] { $spent } of { $limit } token
       *[other] { $spent } of { $limit } tokens
    }
budget-seconds = at most { $limit } s
budget-cost = { $spent } of { $limit }

## Announcements

told-not-sent = Not sent: { $error }
told-not-possible = Not possible: { $error }
told-request-removed = Request removed.
told-attached = { $names } attached.
told-step-finished = { $step } done. { $text }
told-step-failed = { $step } failed. { $text }
told-plan =
    { $count ->
        [one] It takes { $count } step.
       *[other] It takes { $count } steps.
    }
told-plan-step-finished = Step { $step } done: { $text }
told-plan-step-failed = Step { $step } failed: { $text }
told-delegation-started = { $sender } to { $recipient }: { $text }
told-delegation-finished = { $recipient } replies: { $text }
told-delegation-failed = { $recipient } failed: { $text }
told-queued = Waiting, number { NUMBER($place) } in the queue.
told-asked-again = The model did not answer; asking again, attempt { NUMBER($attempt) }.
told-silent = The model has been silent for { NUMBER($seconds) } seconds.
told-waiting = Waiting for the set-up: { $part }.
told-searching = Searching the library.
told-found = Found the tool { $tool }.
told-none-found = No tool found; one will be written.
told-lessons = Lessons of earlier requests: { $lessons }
told-running = Running { $tool }.
told-run-failed = { $tool } failed.
told-made = Made { $names }.
told-standing-provisional = { $tool } is provisional now.
told-standing-trusted = { $tool } is trusted now.
told-standing-suspect = { $tool } is suspect now.
told-standing-retired = { $tool } is retired now.
told-lacking = { $tool } needs a value: { $problem }
told-mismatch = { $tool } does not fit: { $problem }
told-building = Building { $project }.
told-package-waits = The package { $package } waits for your approval.
told-action-waits = { $action } waits for your approval.
told-ran = { $path } ran.
told-ran-badly = { $path } failed.
told-answered = Answer: { $answer }
told-asked = Question: { $answer }
told-declined = Can’t be done: { $answer }
told-failed = The request failed: { $message }.
told-stopped = Stopped. { $reason }
told-tool-added = Tool library: { $name } was added.
told-tool-removed = Tool library: { $name } was removed.
told-tool-modified = Tool library: { $name } was modified.
told-tool-revised = Tool library: { $name } was revised.
told-tool-trusted = Tool library: { $name } is trusted now.
told-tool-retired = Tool library: { $name } was retired.
told-tool-restored = Tool library: { $name } was restored.
told-tool-kept_back = Tool library: { $name } keeps an old version of a tool that it imports.

## The server

server-answered = the server answered { $status }
conversation-unchanged = The conversation was not changed: { $error }.

## The page that asks for the token

login-title = Open the page
login-how = Open the link that the server printed when it started, or paste the token from it.
login-refused = This token does not open the page: each start of the server makes a new one.
login-token = Access token
login-open = Open
## The page itself
page-needs-javascript = This page needs JavaScript.
page-skip = Skip to the request

## Links to a conversation, and what they show

share-menu = Share…
share-made = The link is ready.
share-copied = Copied
share-brand = Self-Engineering Agent
share-as-of = Shared conversation, as of { $time }. Read only.
share-not-loaded = It could not be loaded: { $reason }.
share-empty = No turn of this conversation had ended when the link was made.
share-turns = Turns
share-request = Request
share-steps =
    { $count ->
        [one] { $count } step
       *[other] { $count } steps
    }
share-foot = Made by an agent that writes and tests the tools it lacks. Answers may be wrong.
gone-title = This link opens nothing
gone-text = It was revoked, it has ended, or a part of it is missing. Ask whoever sent it for a new one.

## Projects

projects = Projects
projects-all = Show all { $count }
projects-fewer = Show fewer
project-new = New project
figures-files =
    { $count ->
        [one] { $count } file
       *[other] { $count } files
    }
figures-invalid = { $count } invalid
figures-tests =
    { $total ->
        [one] { $passed } of { $total } test file passes
       *[other] { $passed } of { $total } test files pass
    }
figures-main-works = main.py works
figures-main-fails = main.py fails
figures-stale = changed since that check
act-undone = It could not be done.
act-created = created
act-edited = edited
act-deleted = deleted
act-unchanged = unchanged
act-changes = Changes of { $path }
act-passes = passes
act-fails = fails
act-output = Output
act-output-of = Output of { $path }
act-stdout = Standard output
act-stderr = Standard error
act-exit-code = exit code { $code }
act-printed = What it printed
act-refused = Refused files

## The panel beside the conversation

panel-label = Activity, library and lessons
panel-tabs = Beside the conversation
panel-views = Views
panel-chat = Chat
panel-project = Project
panel-activity = Activity
panel-library = Library
panel-lessons = Lessons
panel-show = Show the panel
panel-hide = Hide the panel
panel-beside = Back beside the conversation
panel-width = Width of the panel
panel-width-how = Drag to change the width, double click to reset it
code-wrap = Wrap long lines
code-copy = Copy: { $what }
code-all = Show all { $count } lines
confirm-cancel = Cancel

## The library

kind-file = Takes a file
order-name = By name
order-uses = Most used
order-newest = Newest
order-last = Last used by you
standing-provisional = provisional
standing-trusted = trusted
standing-suspect = suspect
standing-retired = retired
standing-title-provisional = New. Becomes trusted after a few different successful uses.
standing-title-trusted = It has served several different calls.
standing-title-suspect = A service that it asks answers otherwise than recorded.
standing-title-retired = Searches no longer offer it. You can restore it.

## A tool

tool-limits = { $seconds ->
    [0] {""}
   *[other] Time of a call: { $seconds } s.{" "}
}{ $memory ->
    [0] {""}
   *[other] Memory: { $memory } MB.{" "}
}{ $space ->
    [0] {""}
   *[other] Temporary files: { $space } MB.
}
author-hand = by hand
author-offline = by the offline model
author-model = by { $model }
version-tests-passed = { $total ->
    [one] { $total } test passed
   *[other] { $total } tests passed
}
version-tests = { $total ->
    [one] { $passed } of { $total } test passed
   *[other] { $passed } of { $total } tests passed
}
origin-created = created
origin-edited = edited by hand
origin-repaired = repaired
origin-repaired-from = repaired: { $failure }
origin-corrected = corrected after a complaint
origin-extended = with the new { $count ->
    [one] parameter
   *[other] parameters
} { $parameters }
origin-rolled_back = rolled back to version { $to }
origin-requirement_changed = takes version { $version } of { $tool }
origin-merged = merged with version { $version } of { $tool }
origin-refactored = { $factor }× faster
origin-imported = imported from { $file }, signed by { $name }
origin-imported-unknown = imported from { $file }, signed by an unknown key
origin-imported-unsigned = imported from { $file }, not signed

## The state of model, sandbox and library

page-name = Self-Engineering Agent
status-label = Status
status-ready = Ready
status-model = Model
status-sandbox = Sandbox
status-library = Library
status-model-checking = Checking the model
status-model-offline = Offline model
status-model-offline-text = No model server is chosen, so a built-in one works from a fixed cookbook of recipes. It builds and runs real tools, but for anything else it says that it doesn’t know.
local-title = Model servers on this machine
local-model = Model of { $server }
local-use = Use
local-use-this = Use { $model } of { $server }
local-look = Look for model servers on this machine
local-again = Look again
local-none = None found. Start Ollama, LM Studio, llama.cpp, vLLM or Jan, and load a model.
status-model-gone = Not reachable
status-model-refused = Access refused
status-model-at = Served by { $server }.
status-model-again = It is tried again with the next request, and every few seconds while this page is open.
status-sandbox-checking = Checking the sandbox
status-sandbox-preparing = Setting up
status-sandbox-preparing-title = Setting up the sandbox
status-sandbox-preparing-text = The sandbox is being set up. Requests that need it wait.
status-sandbox-available = Ready
status-sandbox-available-title = Sandbox ready
status-sandbox-available-text = Generated code runs in { $backend } of its own, never on this machine itself.
status-sandbox-unavailable = Unavailable
status-sandbox-unavailable-title = No sandbox
status-sandbox-unavailable-text = Without a sandbox no tool is written or run. The page and the library still work.
status-sandbox-limits = What it does not guarantee
lacks-kernel = Containers share the kernel of their host: a hole in it is a hole in the sandbox.
lacks-limits = Processes and files are limited in number by the memory that they take, and by nothing else.
lacks-system = Code can read the programs and libraries of the machine, and where its own folders lie.
lacks-user = A way out of a container would lead to the rights of this server’s user.
lacks-memory = The limit of memory is strict for each process only; all together are looked at ten times a second.
lacks-pids = The number of processes is not limited.
lacks-cpu = Code may use more than one CPU until its time is up.
status-library-checking = Checking the library
status-library-text = Every tool passed its own tests in the sandbox before it was kept.
library-search-ready = Search by meaning works.
library-search-behind = The index of the search is being built; until then every tool is compared.
library-search-elsewhere = Another program has the index of the search, so every tool is compared.
library-search-away = The server of the index does not answer, so every tool is compared.
library-search-absent = There is no index, so the search compares every tool.
library-search-broken = The index can’t be opened, so the search compares every tool.
status-library-browse = Browse the library
status-tools =
    { $count ->
        [one] { $count } tool
       *[other] { $count } tools
    }
setting-up = Being set up:
setting-up-waits = You can already send requests; they wait for what they need.
setting-up-failed = { $part }: not set up yet.
setting-up-again = The server will try again.
banner-reconnecting = Connection lost.
banner-reconnecting-remedy = Reconnecting – nothing will be lost.
banner-refused = The server was restarted.
banner-refused-remedy = Open the new link that it printed.
banner-dismiss = Dismiss

## Settings

settings-title = Settings
settings-server-offline = Offline model (built in)
settings-server-openai = OpenAI
settings-server-ollama = Ollama
settings-server-lmstudio = LM Studio
settings-server-vllm = vLLM
settings-server-llamacpp = llama.cpp
settings-server-jan = Jan
settings-server-unnamed = Model server
settings-server-other = Another address
settings-problem-greater_than_equal = At least { NUMBER($limit) }.
settings-problem-greater_than = More than { NUMBER($limit) }.
settings-problem-less_than_equal = At most { NUMBER($limit) }.
settings-problem-int_parsing = A whole number is needed.
settings-problem-int_from_float = A whole number is needed.
settings-problem-int_type = A whole number is needed.
settings-problem-float_parsing = A number is needed.
settings-problem-finite_number = A number is needed.
settings-problem-address = An address such as http://localhost:11434/v1 is needed.
settings-problem-credentials = Without password, hash or ***; the key has its own field.
settings-problem-missing = A key is needed here.
settings-problem-fixed = It was set outside of this page, which wins.

## Other MCP servers

servers = Other servers
consent-once = { $tool ->
    [pictures] The model may see the pictures once.
   *[other] { $tool } is allowed once.
}
consent-always = { $tool ->
    [pictures] The model may always see pictures.
   *[other] { $tool } is always allowed.
}
consent-no = { $tool ->
    [pictures] Going on without what the pictures show.
   *[other] Going on without { $tool }.
}
proposals = Waiting for your acceptance
proposal-look = Look at { $name }

### Loaded with what js/views/later.js has

## Settings

settings-save = Save
settings-saved = Saved. New requests use it.
settings-some-wrong = Some values can’t be used. Nothing was changed.
settings-model = Model
settings-server = Server
settings-address = Address of the server
settings-about-offline = Works without a server, from a fixed cookbook of recipes.
settings-about-openai = OpenAI’s own service. It needs a key, and requests cost money.
settings-about-ollama = Its usual address on the machine that runs this page’s server.
settings-about-lmstudio = Its usual address on the machine that runs this page’s server.
settings-about-vllm = Its usual address on the machine that runs this page’s server.
settings-about-llamacpp = Its usual address on the machine that runs this page’s server.
settings-about-jan = Its usual address on the machine that runs this page’s server.
settings-about-other = Any server that speaks OpenAI’s protocol; the address usually ends in /v1.
settings-key = Key
settings-key-set = A key is set
settings-key-none = No key
settings-key-note = It is kept on the server, sent to this model server only, and never shown again.
settings-key-remove = Remove
settings-key-removed = The key will be removed when you save.
settings-key-loses = The key that is set belongs to another server; saving removes it.
settings-name = Model name
settings-models = Models of the server
settings-models-note = Choose from the server’s list, or write any name.
settings-models-unknown = The server does not list “{ $model }”.
settings-models-trouble = The list could not be loaded: { $problem }.
settings-test-begin = Test
settings-test-stop = Cancel the test
settings-test-note = Nine short calls, with what is filled in above. Nothing is saved.
settings-works = Works:
settings-fails = Does not work:
settings-usable = This model can be used.
settings-unusable = This model can’t be used.
settings-usable-cost = A request that a tool serves takes 2 model calls, one that needs a new tool 4 to 6.
settings-wasted =
    { $count ->
        [one] What the server ignores costs { $count } further call until that is known.
       *[other] What the server ignores costs { $count } further calls until that is known.
    }
settings-lacks = It gives no { $lacks }.
ability-of-text = text
ability-of-value = values
ability-of-choice = choices
ability-server-models = Lists this model
ability-text-stream = Text, piece by piece
ability-value-schema = Values by a strict schema
ability-value-required = Values by a function call that it has to make
ability-value-named = Values by a call of one function
ability-value-words = Values in words
ability-choice-required = Choice of a function that it has to call
ability-choice-auto = Choice of a function that it may call
ability-choice-words = Choice in words
ability-sight-pictures = Sees pictures
settings-limits = Limits
settings-limits-note = They apply to requests that begin after saving. An empty field takes the value shown in it.
settings-limits-of-turn = For one request
settings-limits-of-build = For a new tool
settings-limits-of-server = For one answer
settings-limits-of-people = For all requests together
settings-limits-of-stored = For stored data
settings-no-limit = no limit
settings-turn_max_seconds = Seconds
settings-turn_max_seconds-note = After which a request makes no further model call.
settings-turn_max_calls = Model calls
settings-turn_max_calls-note = That one request may make.
settings-turn_max_tokens = Tokens
settings-turn_max_tokens-note = Read and written, in one request.
settings-turn_max_cost = US dollars
settings-turn_max_cost-note = That one request may cost, where the price is known.
settings-synthesis_candidates = Candidates
settings-synthesis_candidates-note = Written at once for a new tool; they vote on the tests. 1 to 8.
settings-month_max_cost = US dollars in a month
settings-month_max_cost-note = That the requests of everybody may cost in a calendar month, where prices are known.
settings-keep_days = Days a conversation is kept
settings-keep_days-note = After the newest request; 0 keeps it until it is deleted. Pinned conversations and projects stay.
settings-turns_max_running = At once
settings-turns_max_running-note = Requests of everybody that run at once; more wait in a queue.
settings-turns_max_per_person = Of one person
settings-turns_max_per_person-note = Requests that run at once. All who have the access token are one person; one conversation has two thirds of them.
settings-turns_max_waiting = In the queue
settings-turns_max_waiting-note = Requests that wait; more are refused. One person has two thirds of them.
settings-synthesis_max_repairs = Repairs
settings-synthesis_max_repairs-note = Of a new tool that fails its tests. 0 to 20.
settings-openai_timeout = Patience in seconds
settings-openai_timeout-note = For the model’s answer, or its next piece.
settings-learns = Learn from requests
settings-learns-note = Looks for lessons in ended requests, in the background; it takes further model calls.
settings-fixed-environment = Set as { $name } where the server was started, which wins. Remove it there to change it here.
settings-fixed-file = Set as { $name } in the file .env, which wins. Remove it there and restart to change it here.
settings-fixed-key = The key or a header is set outside of this page, and is sent to its own server only.
settings-elsewhere = Set elsewhere
settings-elsewhere-note = These can’t change while the server runs. Set the name shown in .env or in the environment, then restart.
secrets = Secrets
secrets-note = Tools that you allow to use a secret send it without seeing it. It is kept on the server, encrypted, and never shown again. A name has capitals, digits and _; a value has at least 6 characters.
secrets-name = Name, such as GITHUB_TOKEN
secrets-value = Value
secrets-save = Keep
secrets-remove = Remove
secrets-remove-question = Remove { $name }? Tools that use it will fail.
secrets-again = Enter it again: this machine has no key for it.
oauth = Get a token from a service
oauth-note = For services with OAuth’s device flow. Enter a name above, and what the service says about your program.
oauth-device_url = Address for codes
oauth-token_url = Address for tokens
oauth-client_id = Client ID
oauth-client_secret = Client secret, if any
oauth-scope = Scope, if any
oauth-begin = Get a code
oauth-enter = Enter this code on the service’s page:
oauth-waiting = Waiting until you allow it
oauth-failed = The service gave no permission.
oauth-kept = { $name } is kept, and renewed when it expires.
spending = Spending
spending-month = Month
spending-turns = Requests
spending-tokens = Tokens
spending-cost = Cost
spending-saved = Saved
spending-unknown = unknown
spending-none = Nothing was spent yet.
spending-limit = This month, everybody’s requests cost { $spent } of { $limit }.
spending-tools = By tool, for everybody
spending-tool = Tool
spending-built = Built for
spending-reuses = Reuses
spending-unbuilt = no request built it
spending-unpaid = does not pay
spending-tools-note = A reuse saves what it took to build the tool, or the average tool where no request built it, less what the request took. A tool that has saved less than it took after 30 days does not pay; you can retire it in the library.
spending-note = Your requests. Reuse saved what it had cost to build the tools used again, less what these requests cost. Where a price is unknown, only tokens count.
data-title = Stored data
data-conversations = Conversations
data-files = Files
data-results = Values that tools returned
data-links = Shared links
data-proposals = Changes that wait for you
data-grants = Hosts, packages and limits that you allowed
data-spending = Requests in the spending
data-lessons = Lessons from your requests
data-projects = Projects
data-secrets = Secrets that you entered
data-tools = Tools, their versions and the search index
data-exchanges = Answers of services, recorded for tests
data-steps = Steps of running requests
data-servers = Other servers and what they may do
data-settings = Settings of this page
data-keys = Keys of this server
data-parts = Model, packages and sandbox
data-backups = Backups made before a restore
data-system = The database and its upkeep
data-all = Everything that is stored
data-goes-all = “Delete my data” deletes yours
data-goes-part = “Delete my data” deletes what only you brought
data-goes-none = “Delete my data” leaves
data-until-conversation = With the conversation.
data-until-deletion = Until deleted.
data-until-end = Until the link ends.
data-until-decision = Until you decide.
data-until-revocation = Until revoked.
data-until-use = While in use.
data-until-version = As long as a version needs them.
data-until-turn = Until the request ends, or for a day after it failed.
data-until-setup = A day longer than needed.
data-until-server = As long as the server.
data-not-stored = Logs go to the server’s output. Temporary files end with the call that made them.
data-kept = A conversation without a new request is deleted after { $count } { $count ->
    [one] day
   *[other] days
  }, unless it is pinned.
data-kept-always = Conversations stay until you delete them.
data-note = Files and inputs of calls go with their conversation.
data-delete = Delete my data
data-delete-question = This stops your requests and deletes your conversations, projects, secrets and permissions, and the tools that only you made and used. Tools that others use stay, with code and tests, but without your examples and recorded calls. Settings and backups stay. It can’t be undone.
settings-browser = This browser
settings-browser-note = Language, colours and notifications apply at once, in this browser only.
settings-language = Language
settings-theme = Colours
choice-language-system = As the browser
choice-language-en = English
choice-language-de = Deutsch
choice-theme-system = As the system
choice-theme-light = Light
choice-theme-dark = Dark
notices-allow = Allow notifications
notices-granted = Notifications are on: a long request that ends while the tab is hidden is announced.
notices-denied = The browser blocks notifications of this page. Its site settings can allow them.
notices-default = Notifications are off.
notices-missing = Notifications need HTTPS, or this machine's own address.
settings-of-sandbox = Sandbox
settings-why-sandbox = Running containers belong to it.
settings-of-run_seconds = Seconds of one run
settings-why-run_seconds = Prepared containers have this limit already.
settings-of-embedder = Search by meaning
settings-why-embedder = Another one makes all vectors of the library anew.
settings-of-database = Database
settings-why-database = Conversations would have to move.
settings-of-data = Data
settings-why-data = Open files are in this folder, also these settings.
settings-of-tools = Tools
settings-why-tools = The library watches this folder.
settings-of-index = Search index
settings-why-index = The index is open.
settings-of-address = Address of this page
settings-why-address = This page itself is reached there.
data-schedules = Schedules
import-outcome-waits = waits for you above the tools
import-receipt-missing = The file has no receipt of the author’s check.
import-receipt-reproduced = The check here finds what the author’s receipt says.
import-receipt-differs = The check here differs from the author’s receipt.
subscriptions = Subscriptions
subscriptions-about = Follow the tools that another library publishes. New versions wait until you accept them; nothing is replaced.
subscriptions-check = Look for updates
subscriptions-none = There is nothing new.
subscription-place = Address of an index
subscription-add = Follow
subscription-remove = Remove
subscription-remove-question = Follow this index no longer? Its tools stay.
proposal-objections = This update differs from your version:
proposal-accept-anyway = Accept anyway
proposal-accept-anyway-of = Accept anyway: { $name }
data-subscriptions = Subscriptions
tool-schedules = Schedules
schedules-none = No schedules yet
schedules-about = A schedule runs this version of the tool at set times, without the model, as long as the server runs.
schedules-new = New schedule
schedule-active = on
schedule-paused = paused
schedule-running = running
schedule-troubled = needs you
schedule-needs-you = The last run needs you, so the schedule is paused
schedule-next = Next runs
schedule-last = Last run
schedule-run = Run now
schedule-pause = Pause
schedule-resume = Resume
schedule-results = Results
schedule-remove = Remove
schedule-remove-question = Remove this schedule? Its results stay in their conversation.
schedule-every = How often
schedule-every-hour = Every hour
schedule-every-day = Every day
schedule-every-workday = Monday to Friday
schedule-every-week = Every week
schedule-every-month = Every month
schedule-every-cron = Other times, in cron’s form
schedule-when-hook = By signed requests
schedule-weekday = Day
schedule-day = Day of the month
schedule-time = Time
schedule-cron = Minute, hour, day, month, weekday
schedule-timezone = Time zone
schedule-timezone-unknown = No time zone has this name; choose one of the list.
schedule-missed = Runs missed while the server was off
schedule-missed-once = Make up for one
schedule-missed-skip = Skip
schedule-missed-all = Make up for each
schedule-name = Name
schedule-add = Add schedule
schedule-every-file = When a file comes to a folder
schedule-every-hook = When a signed request asks
schedule-when-file = When { $pattern } comes to { $folder }
schedule-folder = Folder on the server
schedule-pattern = Which files
schedule-hook = Secret that signs the requests
schedule-deliver = Results also go to
schedule-deliver-none = nowhere else
schedule-deliver-folder = a folder of the server
schedule-deliver-webhook = a web address
schedule-deliver-mail = an e-mail address
schedule-form = Form
schedule-url = Address
schedule-secret = Name of the secret
schedule-to = To
schedule-sender = From
schedule-server = Mail server
schedule-port = Port (465)
schedule-user = User, if not the sender
schedule-delivered-folder = Results also go to the folder scheduled/{ $name }.
schedule-delivered-webhook = Results also go to { $to }.
schedule-delivered-mail = Results also go to { $to }.

## Health of the library

health-title = Health of the library
health-counts = { $tools ->
    [one] One tool
   *[other] { $tools } tools
}, of which { $compared } ran on each other’s inputs.
health-unmeasured = { $count ->
    [one] The tests of one tool are measured at the next look.
   *[other] The tests of { $count } tools are measured at the next looks.
}
health-nothing = There is nothing to do.
health-all = Show all { $count }
health-twins = Do the same
health-suspect = Service has changed
health-weak = Weak tests
health-slow = Slow
health-never_used = Never used
health-stale = Not used for long
health-unpaid = Does not pay
health-one_person = Used by one person
health-evidence-twins = They agree on { $inputs } inputs, { $recorded } of them from earlier answers.
health-evidence-suspect = A service that it asks answers otherwise than recorded.
health-evidence-weak = Its tests notice { $noticed } of { $tried } changes to its code.
health-evidence-slow = A call takes { $seconds } s, the usual tool’s { $usual } s.
health-evidence-never_used = Nobody has used it in { $days } days.
health-evidence-stale = Unused for { $days } days; its version is { $version_days } days old.
health-evidence-unpaid = Building it took { $built } tokens; { $reuses ->
  [one] one reuse
 *[other] { $reuses } reuses
} saved { $saved }.
health-evidence-one_person = { $calls ->
    [one] One call
   *[other] { $calls } calls
}, all of one person.
health-do-merge = Merge
health-do-retire = Retire
health-do-strengthen = Add tests
health-do-refactor = Make it faster
health-do-none = Open
health-do-of = { $label }: { $name }
health-done-merge = { $duplicate } is merged into { $name }. Searches find { $name } in its place.
health-done-retire = { $name } is retired. Searches no longer find it.
health-waits = The merge of { $duplicate } into { $name } waits for your acceptance.
tool-merged-into = Retired. Searches find in its place

## Links to a conversation, and what they show

share-title = Share “{ $title }”
share-text = Anyone with the link can read this conversation as it is now: requests, answers, results, files and the steps in between. Nothing that happens later is shown until you update the link.
share-ends = The link ends
share-never = when it is revoked
share-days =
    { $days ->
        [one] after one day
       *[other] after { $days } days
    }
share-create = Create a link
share-link = Link
share-copy = Copy
share-once = Copy it now: it is not shown again.
share-local = This server is open to this machine only, so the link works nowhere else.
share-links = Links of this conversation
share-none = There is no link to this conversation.
share-made-at = Created { $time }
share-shows = Shows the conversation of { $time }.
share-ends-at = Ends { $time }.
share-stays = Stays until it is revoked.
share-renew = Update
share-revoke = Revoke
share-renewed = The link shows the conversation as it is now.
share-revoked = The link is revoked and opens nothing any more.

## Projects

project-label = Project { $name }
project-door = Build a project
project-door-text = A folder of Python files that grows towards a goal, step by step. Every change is tested in the sandbox, and you can run, edit and download it at any time.
project-goal = Goal
project-goal-hint = What should it do?
project-examples = Try one of these
project-examples-offline = The offline model knows these
project-example-counter = A command line tool that counts the words of a file
project-example-sales = A report with a chart on a CSV file of sales
project-example-song = Write a melody as a MIDI file
project-name = Name
project-packages = Allowed packages
project-step-mode = Ask me before each step
project-limits = Limits
project-options = Packages and limits
project-max_steps = Steps
project-max_calls = Model calls
project-max_tokens = Tokens
project-max_seconds = Seconds
project-max_cost = US dollars
project-no-limit = no limit
project-build = Build
project-change = What should change in { $name }?
project-continue = Continue building
project-continue-hint = Without words the build goes on towards the same goal.
project-tabs = History and open files
project-history = History
project-files =
    { $count ->
        [one] { $count } file
       *[other] { $count } files
    }
project-tree = All files
project-no-files = There are no files yet.
project-new-file = New file
project-new-path = Path of the new file
project-unsaved = not saved
project-changed = changed
project-close-file = Close { $path }
project-edit = Edit
project-download-file = Download { $path }
project-delete-file = Delete the file
project-delete-file-question = Delete { $path }? A backup is kept.
project-edit-conflict = The file has changed since you began to edit it. Saving replaces those changes; a backup is kept.
project-editor = Text of { $path }
project-save = Save
project-cancel = Cancel
project-run = Run main.py
project-test = Run the tests
project-download = Download
project-more = More actions: { $name }
project-not-shown = This project can’t be shown
project-request = Request
project-by-hand = Done by hand
project-done =
    { $count ->
        [one] { $count } step
       *[other] { $count } steps
    }
project-changed-files = Changed files
project-steps = Steps
project-stopped = You can continue building at any time; what was built is kept.
project-waiting = Waiting for you
project-waits = The build waits
project-pause = Pause
project-pausing = Pausing
project-install = Install { $package } for this project’s sandbox?
project-approve = Install it
project-refuse = Do without it
project-act = Do this step
project-act-on = Continue without asking
project-restore = Restore a backup…
project-restore-title = Restore { $name }
project-restore-text = The current files become the newest backup, so this can be undone.
project-backup = Backup { $number }
project-restore-it = Restore
project-restore-number = Restore backup { $number }
project-delete = Delete the project…
project-delete-title = Delete { $name }?
project-delete-text = Its files, backups and history are deleted for good. This can’t be undone.
project-delete-yes = Delete
project-not-deleted = { $name } was not deleted: { $reason }.

## The library

library-label = Tool library
library-search = Search tools
library-kind = Which tools are listed
library-option = { $kind } ({ $count })
library-order = Order
library-found = { $count ->
    [0] Nothing found
    [one] { $count } tool found
   *[other] { $count } tools found
}
library-request = for “{ $request }”
library-none-found = No tool matches “{ $search }”
library-none-found-text = Ask for it in the conversation and it will be built.
library-none-of-kind = No tool of this kind
library-more = More for the library
tool-more = Export { $name }
export-script = Python script
export-skill = Agent Skill
export-bundle = Bundle for another library
export-library = Export all tools
import-menu = Import tools…
import-title = Import tools
import-file = Bundle of another library (.zip)
import-refused = This file can’t be imported
import-tools = Tools of the file
import-requests = Found by requests such as:
import-needs = Needs { $needs }
import-code = Code and tests of { $name }
import-words = Read what the tools say of themselves: the gate judges code, not words, and the model reads these words with every request.
import-checking = { $count } of { $of } checked…
import-checked = { $of ->
    [one] One tool checked.
   *[other] { $of } tools checked.
}
import-add = { $count ->
    [0] Nothing to add
    [one] Accept and add one tool
   *[other] Accept and add { $count } tools
}
import-added = { $count ->
    [0] Nothing was added.
    [one] One tool was added.
   *[other] { $count } tools were added.
}
import-outcome-waiting = being checked…
import-outcome-passed = passes the gate
import-outcome-present = already there
import-outcome-refused = refused
import-refused-gate = It did not pass the check.
import-outcome-asks = not checked yet
import-packages = The check installs packages from the index in the sandbox: { $packages }
import-install = Install and check
import-outcome-added = added
signer-own = Signed by this instance.
signer-trusted = Signed by { $name }, whose key you trust.
signer-unknown = Signed by a key that you have not trusted. Compare its fingerprint with the author:
signer-unsigned = Not signed: anybody may have written or changed this file.
kind-all = All tools
kind-mine = Used by you
kind-built = Built here
kind-text = Takes text
kind-number = Takes numbers
kind-list = Takes a list
kind-dates = Works with dates
kind-tables = Works with tables
kind-charts = Draws charts
kind-retired = Retired

## A tool

tool-overview = Overview
tool-code = Code
tool-tests = Tests
tool-versions = Versions
tool-code-of = Code of { $name }
tool-tests-of = Tests of { $name }
tool-signature = Signature
tool-not-shown = This tool can’t be shown
tool-not-possible = That was not possible
tool-run = Run it by hand
tool-faster = Make it faster
tool-about = About
tool-version = version
tool-used = uses
tool-uses = { $count ->
    [0] not used yet
    [one] used once
   *[other] used { $count } times
}
tool-added = added
tool-author = written
tool-needs = With your consent
tool-network = Hosts
tool-network-allowed = allowed
tool-network-asks = asks first
tool-exchanges = { $count ->
    [0] Nothing is recorded of them.
    [one] The tests replay { $count } recorded exchange.
   *[other] The tests replay { $count } recorded exchanges.
}
tool-witnesses = checked
tool-checked = { $of ->
    [0] by nobody: no other candidates are kept
    [one] by another implementation
   *[other] by { $of } other implementations
}
tool-origin = origin
tool-digest = Digest
tool-after = You often ask next
tool-together = You often use it with
uses-chart = { $unit ->
    [week] Your uses by week
   *[day] Your uses by day
}
uses-returned = uses
uses-failed = failures
tool-retire = Retire
tool-retire-question = Retire { $name }? It won’t be offered until you restore it.
tool-restore = Restore
tool-restore-question = Restore { $name }? Searches offer it again, at first as provisional.
versions-not-shown = The versions can’t be shown
versions-compare = Compare
versions-from = from
versions-to = to
versions-not-compared = These versions can’t be compared
versions-code-changes = Changes of the code
versions-tests-changes = Changes of the tests
version-title = Version { $number }
version-option = version { $number }
version-in-use = in use
version-roll-back = Roll back
version-roll-back-question = Roll { $name } back to version { $to }? This creates version { $next } for everyone; no version is lost.
run-label = Run { $name }
run-run = Run
run-needed = Needed.
run-not-json = Not valid JSON; texts have quotes, such as ["a", "b"].
run-or-file = or a file
run-type-default = { $type }, default { $preset }
type-text = text
type-file = name of a file
type-number = number
type-whole = whole number
type-switch = yes or no
type-choice = a choice
run-choose = Choose
run-default = Default: { $preset }
run-done = { $time }; this request is in the conversation, too

## Lessons

lessons-all = All lessons
lessons-none = No lessons yet
lessons-none-text = The engine learns from failures, repairs and your corrections, and shows these lessons to the next similar attempt.
lesson-for-specify = Specification
lesson-for-test = Tests
lesson-for-implement = Implementation
lesson-for-execute = Use of tools
lesson-for-coder = The coder
lesson-for-proxy = The user proxy
lesson-edit = Edit
lesson-edit-of = Edit: { $trigger }
lesson-delete = Delete
lesson-delete-question = Delete this lesson?
lesson-save = Save
lesson-trigger = When it applies
lesson-advice = What to do then
lesson-unchanged = The lesson was not changed: { $error }.
lesson-expired = expired
lesson-weight = weight { $weight }
lesson-unused = not used yet
lesson-no-effect = no effect yet
lesson-effect = helped { $helped }, failed { $failed }
lesson-evidence = { $count ->
    [one] from { $count } request
   *[other] from { $count } requests
}

## Other MCP servers

servers-count =
    { $count ->
        [one] { $count } other server
       *[other] { $count } other servers
    }
server-idle = not connected
server-connecting = connecting
server-connected = connected
server-failed = not available
server-problem-failed = The server can’t be used.
server-problem-tools = Some of its tools can’t be used.
server-tool-allowed = always allowed
server-tool-asks = asks first
server-tool-reads = says that it only reads
proposal-new = new tool
proposal-behaviour = What it changes
proposal-sources = Code and tests
proposal-edit = Edit the code
proposal-calls = What it returns:
proposal-compared = { $changed ->
    [0] Of { $compared } recorded and generated inputs, { $recorded } of them yours, none gives something else.
    [one] Of { $compared } recorded and generated inputs, { $recorded } of them yours, 1 now gives something else.
   *[other] Of { $compared } recorded and generated inputs, { $recorded } of them yours, { $changed } now give something else.
}
proposal-accept = Accept
proposal-accept-of = Accept { $name }
proposal-refuse = Refuse
proposal-refuse-of = Refuse { $name }
proposal-done-accept = { $name } is accepted.
proposal-done-refuse = { $name } is refused.
tool-teach = Edit
tool-freeze = Freeze
tool-freeze-note = No automatic repair changes a frozen version
teach-title = Teach
teach-note = Each row is a test of the next version.
teach-add = Add a row
teach-row = Row { $number }
teach-open = (not tested yet)
teach-passed = (passes)
teach-failed = (fails)
teach-value = Right value
teach-remove = Remove row { $number }
teach-correct = Have it corrected
edit-save = Save
edit-saving = The gate checks it.
edit-saved = { $name } is at version { $version }.
edit-waits = { $name } waits for your acceptance.
edit-nothing = Nothing is changed.
edit-checking = Testing
edit-passed = { $count ->
    [one] 1 test passes.
   *[other] All { $count } tests pass.
}
edit-failed = { $failed ->
    [one] One of { $count } tests fails.
   *[other] { $failed } of { $count } tests fail.
}
edit-problem = It does not run.
settings-asks = Ask before the library changes
settings-asks-note = New tools and versions wait until you accept them.
