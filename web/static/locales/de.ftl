### The page’s words. See docs/page.md for the terms; each message is in every language.

## Steps of a turn, and places where it can fail

step-gather = Anfrage
step-search = Suche
step-consent = Zustimmung
step-clarify = Rückfrage
step-specify = Spezifikation
step-probe = Proben
step-test = Tests
step-implement = Implementierung
step-compare = Vergleich
step-verify = Prüfung
step-repair = Reparatur
step-strengthen = Mutationsprüfung
step-register = Registrierung
step-prepare = Argumente
step-execute = Ausführung
step-mend = Korrektur
step-refactor = Beschleunigung
step-plan = Plan
step-delegate = Agenten
step-respond = Antwort
step-queued = Warteschlange
step-waiting = Einrichtung
step-tool_found = Werkzeug gefunden
step-no_tool_found = Kein Werkzeug passt
step-lessons_shown = Lehren
step-stub = Tests ohne Implementierung
step-delegation = An einen Agenten übergeben
step-code_run = Code
step-coder = Der Programmierer
step-proxy = Der Vertreter
step-builder = Der Projektbauer
step-tool_standing_changed = Einstufung
step-tool_mismatch = Werkzeug passt nicht
step-project_check = Kontrolle
step-create_file = Datei anlegen
step-write_file = Datei schreiben
step-replace_lines = Zeilen ersetzen
step-insert_lines = Zeilen einfügen
step-remove_lines = Zeilen entfernen
step-delete_file = Datei löschen
step-execute_py_file = Ausführen
step-run_tests = Tests ausführen
step-read_run = Ausgabe weiterlesen
step-add_package = Paket anfragen
step-finish = Abschluss
step-give_up = Aufgegeben
step-restored = Wiederherstellung
step-building = Bau
step-acting = Aktion
step-turn_failed = Fehlgeschlagen
step-turn_stopped = Gestoppt
step-turn_resumed = Fortgesetzt
step-internal = Intern
resumed-there = Der Server wurde unterbrochen. Es geht dort weiter, wo es war.
resumed-again = Der Server wurde unterbrochen. Es hat noch einmal begonnen.
told-resumed = Nach einer Unterbrechung fortgesetzt.

## The current activity

now-gather = Liest die Anfrage
now-search = Durchsucht die Bibliothek
now-clarify = Fragt nach, was fehlt
now-specify = Schreibt die Spezifikation
now-probe = Fragt die Adressen, die das Werkzeug braucht
now-test = Schreibt die Tests
now-implement = Schreibt die Implementierung
now-compare = Vergleicht die Kandidaten
now-verify = Führt die Tests in der Sandbox aus
now-repair = Repariert die Implementierung
now-strengthen = Prüft die Tests mit eingebauten Fehlern
now-register = Nimmt das Werkzeug in die Bibliothek auf
now-prepare = Liest die Argumente
now-execute = Führt das Werkzeug aus
now-mend = Korrigiert das Werkzeug
now-refactor = Beschleunigt das Werkzeug
now-plan = Arbeitet die Schritte ab
now-delegate = Ein Agent arbeitet
now-respond = Schreibt die Antwort
now-queued = Platz { NUMBER($place) } in der Warteschlange
now-queued-reason = Platz { NUMBER($place) } in der Warteschlange: Die Rechner, auf denen Anfragen laufen, werden noch eingerichtet
now-waiting = Wartet auf die Einrichtung
now-stub = Prüft, dass die Tests ohne Implementierung scheitern
now-delegation = Ein Agent arbeitet
now-code_run = Führt Code in der Sandbox aus
now-project_check = Kontrolliert das Projekt
now-execute_py_file = Läuft in der Sandbox
now-run_tests = Führt die Tests in der Sandbox aus
now-other = Arbeitet
now-asked-again = Keine Antwort vom Modell, neuer Versuch ({ NUMBER($attempt) })
now-silent-again = Das Modell schweigt seit { $time }. Nach { $limit } wird es noch einmal gefragt, oder die Anfrage endet mit einem Fehler.
now-silent-fails = Das Modell schweigt seit { $time }. Nach { $limit } endet die Anfrage mit einem Fehler.

## The front door: what an empty conversation shows

door-loading = Die Unterhaltung wird geladen
door-missing = Diese Unterhaltung ist nicht hier
door-missing-text = Sie wurde gelöscht oder gehört jemand anderem. Unten lässt sich eine neue beginnen, links eine eigene wählen.
door-title = Einfach fragen. Fehlt ein Werkzeug, entsteht es.
door-ask = Anfrage
door-ask-text = In eigenen Worten, auf Wunsch mit Dateien.
door-build = Ein Werkzeug läuft
door-build-text = Aus der Bibliothek sofort. Passt keines, wird vor Ihren Augen eines geschrieben und getestet.
door-keep = Es bleibt
door-keep-text = Die nächste Anfrage dieser Art dauert Sekunden und braucht keinen Bau mehr.
door-no-sandbox = Code kann gerade nicht laufen.
door-examples = Zum Ausprobieren
door-sample = mit { $name }
example-library = Aus der Bibliothek
example-build = Baut ein Werkzeug
example-file = Mit einer Datei
example-plan = Mehrere Schritte
example-script = Ein Skript
example-project = Ein Projekt
example-library-request = Wie viel sind 15 Prozent von 300?
example-build-request = Übertrage „Treffpunkt um acht“ ins Morsealphabet
example-file-request = Zeichne den Umsatz (revenue) über den Monat (month) aus sales.csv
example-plan-request = Drehe „Guten Morgen“ um und zähle dann die Vokale darin
example-script-request = Schreibe ein Skript squares.py, das die ersten 10 Quadratzahlen ausgibt, und führe es aus
example-project-request = Baue ein Kommandozeilenprogramm, das die Wörter einer Textdatei zählt
recent-built = Zuletzt gebaute Werkzeuge
recent-library = In der Bibliothek
recent-all = Alle Werkzeuge
recent-none = Noch keine Werkzeuge
recent-none-text = Die erste Anfrage, die eines braucht, fügt es hier hinzu.

## The composer, files of a request, and requests on their way

chat-label = Unterhaltung
chat-messages = Nachrichten
chat-latest = Neueste
chat-earlier = Frühere Anfragen zeigen
composer-label = Anfrage
composer-empty = Was soll getan werden?
composer-with-files = { $count ->
    [one] Was soll mit dieser Datei geschehen?
   *[other] Was soll mit diesen Dateien geschehen?
}
composer-attach = Dateien anhängen
composer-attach-limits = Dateien anhängen: { $limits }
composer-files = Dateien
composer-send = Senden
composer-hint = { $send }: senden · { $line }: neue Zeile · Dateien ablegen · { $list }: Kürzel
composer-pasted = eingefügt
temporary = Temporär
temporary-note = Temporär: in keiner Liste und keiner Suche, und nichts wird daraus gelernt. Sie wird einen Tag nach der letzten Anfrage gelöscht, oder auf Wunsch sofort; Werkzeuge, die sie baut, bleiben.
temporary-delete = Jetzt löschen
temporary-deleted = Temporäre Unterhaltung gelöscht.
model-switch = Modell: { $model }
model-usual = { $model } (Einstellungen)
model-menu = Modell dieser Unterhaltung
conversation-cost = Kosten dieser Unterhaltung: { $tokens }
composer-too-long = { $length } Zeichen; höchstens { $most } lassen sich senden. Ein langer Text kann als Datei angehängt werden.
files-attached = Angehängte Dateien
files-remove = { $name } entfernen
files-as-text = Als Text
files-of-request = Dateien der Anfrage
files-limits = { $count ->
    [one] eine Datei, bis zu { $size }
   *[other] bis zu { $count } Dateien, zusammen { $size }
}
files-limits-each = { $count ->
    [one] eine Datei, bis zu { $each }
   *[other] bis zu { $count } Dateien mit je { $each }, zusammen { $size }
}
files-refused = { $name } wurde nicht angehängt: { $problem }.
files-refused-remedy = Hängen Sie eine kleinere Datei, einen Teil davon oder weniger Dateien an.
files-name-begins = der Name beginnt mit { $sign }
files-name-signs = der Name enthält Zeichen, die nicht erlaubt sind
files-name-long = der Name ist zu lang
files-too-many = { $count ->
    [one] zu einer Anfrage darf eine Datei gehören
   *[other] zu einer Anfrage dürfen { $count } Dateien gehören
}
files-one-too-large = eine Datei darf { $most } haben, diese hat { $size }
files-too-large = alle Dateien zusammen dürfen { $most } haben, diese haben { $size }
pending-sending = Wird gesendet
pending-uploading = { $name } wird gesendet: { $share }
pending-waits = Wird gesendet, sobald die Verbindung wieder steht
pending-cancel = Abbrechen
pending-silent = Der Server hat nicht geantwortet.
pending-silent-remedy = Bitte prüfen, ob er läuft, und erneut versuchen.
pending-file = { $name } konnte nicht gesendet werden: { $problem }
pending-file-remedy = Bitte prüfen, ob der Server läuft und die Datei noch da ist, und erneut versuchen.
pending-not-sent = Nicht gesendet
pending-again = Erneut senden
pending-edit = Bearbeiten
lacking = { $tool } kann das. Was fehlt noch?
requests-title = Beispielanfragen
requests-own = Eigene frühere Anfragen, die nur Sie sehen, lassen sich entfernen.
requests-open = Unterhaltung mit „{ $request }“
requests-open-title = Unterhaltung öffnen
requests-forget = Entfernen
requests-forget-question = Dieses Werkzeug nicht mehr für „{ $request }“ anbieten? Das gilt für alle.
ended-answered = Fertig: { $request }
ended-asked = Rückfrage: { $request }
ended-declined = Abgelehnt: { $request }
ended-failed = Nicht erledigt: { $request }
ended-stopped = Gestoppt: { $request }

## A turn: its request, what it leaves, and what can be done with it

turn-keep = Diese Schritte als Werkzeug speichern
turn-by-hand = Von Hand ausgeführt
turn-disputes = Berichtigung einer früheren Antwort
wrong = Das ist falsch
wrong-value = Der richtige Wert
wrong-value-note = Berichtigen Sie ihn hier. Er wird ein Test, den das Werkzeug bestehen muss.
wrong-complaint = Was ist falsch? (freiwillig)
wrong-words = Das ist falsch.
wrong-send = Berichtigen
answer-cut-off = Diese Antwort ist unvollständig.
answer-corrected = Diese Antwort war falsch. Sie ist unten berichtigt: { $tool }, Version { $version }.
answer-checked = { $of ->
    [one] Von einer anderen Implementierung geprüft, mit demselben Ergebnis
   *[other] Von { $of } anderen geprüft, mit demselben Ergebnis
}
answer-doubted = Eine andere Implementierung dieses Werkzeugs ergibt { $other }
recomputed = { $computed ->
    [one] { $changed } von { $computed } früheren Antwort ändert sich
   *[other] { $changed } Ihrer { $computed } früheren Antworten ändern sich
}
recomputed-title = Ihre früheren Antworten, neu berechnet
recomputed-unknown = { $unknown } ließen sich nicht neu berechnen.
turn-edit = Anfrage bearbeiten
turn-again = Erneut fragen
turn-fork = Von hier in neuer Unterhaltung fortfahren
versions = Fassungen dieser Anfrage
versions-older = Ältere Fassung
versions-newer = Neuere Fassung
told-version = Fassung { $number } von { $count } wird gezeigt.
composer-edits = Weitere Fassung einer früheren Anfrage.
turn-rephrase = Umformulieren
turn-declined = Das kann ich noch nicht
turn-nearest = Ähnliche Werkzeuge:
turn-after = Danach fragen Sie oft
turn-stop = Stoppen
turn-stopping = Wird gestoppt
turn-notify = Am Ende benachrichtigen
turn-thoughts = Überlegungen
turn-actions = Aktionen
turn-undelivered = Das Ergebnis wurde nicht zugestellt, deshalb pausiert der Zeitplan
turn-answer = die Antwort
turn-activity = Aktivität
answer-code = Codeblock { NUMBER($number) }
answer-diagram = Diagramm: { $text }
problem-remedy = Was hilft:
questions = Rückfragen
questions-answer = Antworten
consents-schedule = ja, zu diesen Zeiten
consents-once = dieses eine Mal
consents-always = immer
consents-no = nein
said-consent = Darf { $tool } des Servers { $server } aufgerufen werden? ({ $address })
said-consent-why = Mit { $arguments }. { $description ->
    [none] {""}
   *[other] Der Server sagt darüber: „{ $description }“.
} Es läuft außerhalb der Sandbox{ $effect ->
    [reads] {" und liest nach eigener Angabe nur"}
   *[other] {""}
}.
said-network = { $needs ->
    [hosts] Darf { $tool } Anfragen an { $hosts } senden?
    [limits] Darf { $tool } in einem Aufruf mehr als üblich brauchen?
   *[other] Darf { $tool } haben, was es braucht: { $needs }?
}
said-network-why = { $sent ->
    [none] {""}
   *[other] Es sendet { $sent }. Seine Argumente können Teil davon sein.{"\u000A"}{ $secrets ->
        [none] {""}
       *[other] Mit den Geheimnissen: { $secrets }.{"\u000A"}
    }{ $near ->
        [none] {""}
       *[other] Im eigenen Netz: { $near }.{"\u000A"}
    }
}{ $packages ->
    [none] {""}
   *[other] Sein Code braucht { $packages }; sie werden für ihn in der Sandbox installiert.{ $size ->
        [none] {""}
       *[other] {"\u000A"}Ihre Größe: { $size } MB.
    }{ $unlicensed ->
        [none] {""}
       *[other] {"\u000A"}Ihre Lizenz ist nicht bekannt: { $unlicensed }.
    }{"\u000A"}{ $vulnerable ->
        [none] Sie haben keine bekannten Schwachstellen.
        [unknown] Ob sie bekannte Schwachstellen haben, ist nicht bekannt.
       *[other] Bekannte Schwachstellen: { $vulnerable }.
    }{"\u000A"}
}{ tool-limits }
said-pictures = Darf { $model } bei { $hosts } { $files } sehen?
said-pictures-why = Es bekommt die Bilder selbst, denn Code kann nicht lesen, was sie zeigen.
schedule-times = { $every ->
    [hour] stündlich, { $minute } Minuten nach der vollen Stunde,
    [day] täglich um { $time }
    [workday] montags bis freitags um { $time }
    [week] { $weekday ->
        [mon] montags
        [tue] dienstags
        [wed] mittwochs
        [thu] donnerstags
        [fri] freitags
        [sat] samstags
       *[sun] sonntags
    } um { $time }
    [month] am { $day }. jedes Monats um { $time }
   *[cron] zu den Zeiten { $cron }
} ({ $timezone })
said-schedule = Soll { $call }, Version { $version }, { schedule-times } laufen?
said-schedule-why = Dann wird kein Modell gefragt, und die Ergebnisse kommen in eine eigene Unterhaltung.
said-scheduled = { $tool }, Version { $version }, läuft nun { schedule-times }. Die Ergebnisse kommen in die Unterhaltung „{ $name }“.
said-not_scheduled = Es wurde kein Zeitplan angelegt.
said-witness = Zwei Implementierungen, die dieselben Tests bestehen, ergeben Verschiedenes. Was stimmt?
said-witness-why = Das Zweite ist von einem Kandidaten für { $tool }, der nicht ausgewählt wurde.
said-readings = Die Anfrage lässt sich auf zwei Arten verstehen, mit verschiedenen Ergebnissen. Was stimmt?
said-example = Was ist gemeint?
said-example-intro = Ihre Beispiele können nicht alle stimmen: { $call } ergibt einmal { $first }, einmal { $second }.
said-request = Was soll stattdessen geschehen?
said-request-intro = { $tool } kann das, aber nicht mit diesen Werten.
said-values-intro = Dafür fehlt noch:
said-refused = Abgelehnt; der Grund steht in den Einzelheiten.
said-failed = Hier ging es nicht weiter; der Grund steht in den Einzelheiten.
said-tool_stays = Das Werkzeug bleibt, wie es ist; der Grund steht in den Einzelheiten.
said-suite_stays = Die Testreihe bleibt, wie sie ist; der Grund steht in den Einzelheiten.
said-drawn = { $written ->
    [one] { $written } Kandidat geschrieben
   *[other] { $written } Kandidaten geschrieben
}, { $usable } davon lauffähig.
said-declined = Das Modell lehnt es ab.
said-contradiction = Die Beispiele der Anfrage können nicht alle stimmen: { $call } ergibt einmal { $first }, einmal { $second }.
said-known = { $tool } ist schon in der Bibliothek und kann das.
said-maybe_known = { $tool } ist in der Bibliothek und kann das vielleicht.
said-red = { $tests ->
    [one] { $tests } Test, der ohne Implementierung scheitert, wie er soll.
   *[other] { $tests } Tests, die ohne Implementierung alle scheitern, wie sie sollen.
}{ $examples ->
    [0] {""}
   *[other] {" "}Aus den Beispielen der Anfrage: { $examples }.
}
said-own_call_none = Kein Kandidat ergibt einen Wert für den Aufruf der Anfrage.
said-own_call_right = Nach Ihrer Angabe ist { $value } richtig.
said-own_call_differs = Beim Aufruf der Anfrage ergibt ein Kandidat { $first }, ein anderer { $second }.
said-own_call_agrees = Beim Aufruf der Anfrage sind sich die Kandidaten einig.
said-proposed = { $tool } wartet auf Ihre Zustimmung.
said-twin = { $tool } ist schon in der Bibliothek, und jedes besteht die Tests des anderen: Es wird benutzt.
said-meanwhile = { $tool } kam inzwischen durch eine andere Anfrage in die Bibliothek und wird benutzt.
said-faster = Es ist { $factor }-mal so schnell: { $after } ms Prozessorzeit statt { $before } ms. Es besteht dieselben Tests und ergibt dasselbe für { $calls } Aufrufe.
said-empty_library = Die Bibliothek ist leer.
said-far = Das nächste Werkzeug, { $tool }, ist zu weit weg: { NUMBER($share, maximumFractionDigits: 1) } %, weniger als { NUMBER($floor, maximumFractionDigits: 1) } %.
said-doubtful = Das Modell wählte { $tool }, aber die Suche gibt ihm nur { NUMBER($share, maximumFractionDigits: 1) } %, weniger als { NUMBER($floor, maximumFractionDigits: 1) } %.
said-unsure = Das Modell konnte nicht wählen, und die Suche allein ist nicht sicher genug.
said-alone = Das Modell konnte nicht wählen; die Suche allein hat entschieden.
said-disputed = Ein früheres Ergebnis von { $tool } gilt als falsch.
said-none_fits = Kein Werkzeug tut, was verlangt ist.
said-needs = Was fehlt: { $names }
said-unfit = Die Werte der Anfrage passen nicht dazu.
said-no_tool = Kein Werkzeug kann das.
by-hand-returned = Das Ergebnis: { $value }
by-hand-raised = Das Werkzeug lehnte diese Eingabe ab: { $problem }
by-hand-killed = Die Sandbox beendete das Werkzeug: { $problem }
questions-yes = ja
questions-no = nein
birth-new = Neues Werkzeug: { $name }
birth-version = { $name } ist jetzt Version { NUMBER($version) }
birth-signature = Signatur von { $name }
birth-tests =
    { $total ->
        [one] { $passed } von { $total } Test bestanden
       *[other] { $passed } von { $total } Tests bestanden
    }
birth-caught =
    { $total ->
        [one] { $caught } von { $total } eingebauten Fehler bemerkt
       *[other] { $caught } von { $total } eingebauten Fehlern bemerkt
    }
birth-open = Öffnen
birth-open-tool = { $name } öffnen
birth-try = Ausprobieren
birth-try-tool = { $name } ausprobieren
built-earlier = { $tool } wurde { $link }
built-earlier-faster = { $tool } wurde { $link }; { $now } statt { $then }
built-earlier-link = früher in dieser Unterhaltung gebaut

## The command palette

palette-open = Suchen
palette-label = Suche und Befehle
palette-placeholder = Unterhaltungen, Werkzeuge, Befehle suchen …
palette-untitled = Ohne Titel
palette-found = { $count ->
    [0] Nichts gefunden
    [one] Ein Treffer
   *[other] { $count } Treffer
}
palette-everything = Alles
palette-kind = Art des Treffers
palette-ever = Jederzeit
palette-time = Zeitraum
palette-days = { $days ->
    [365] Letztes Jahr
   *[other] Letzte { $days } Tage
}
palette-files = Mit Dateien
palette-of-recent = Zuletzt benutzt
palette-of-action = Befehle
palette-of-conversation = Unterhaltungen
palette-of-tool = Werkzeuge
palette-of-project = Projekte
palette-of-lesson = Lehren
palette-of-ask = Fragen
palette-begin = Neue Unterhaltung
palette-temporary = Neue temporäre Unterhaltung
palette-project = Neues Projekt
palette-share = Diese Unterhaltung teilen
palette-attach = Dateien anhängen
palette-stop = Laufende Anfrage stoppen
palette-export-md = Diese Unterhaltung als Markdown exportieren
palette-export-json = Diese Unterhaltung als JSON exportieren
palette-activity = Aktivität zeigen
palette-library = Bibliothek zeigen
palette-lessons = Lehren zeigen
palette-panel = Seitenleiste zeigen oder ausblenden
palette-wide = Seitenleiste breit öffnen oder neben die Unterhaltung
palette-wrap = Lange Codezeilen umbrechen oder nicht
palette-settings = Einstellungen
palette-browser = Sprache (language), Farben und Benachrichtigungen
palette-list = Tastenkürzel

## Keys and shortcuts

key-ctrl = Strg
key-shift = Umschalt
key-enter = Eingabe
key-delete = Entf
key-escape = Esc
shortcuts-title = Tastenkürzel
shortcut-send = Anfrage senden
shortcut-line = Neue Zeile
shortcut-edit = Letzte Anfrage bearbeiten, bei leerem Eingabefeld
shortcut-stop = Laufende Anfrage stoppen
shortcut-focus = Zum Eingabefeld
shortcut-palette = Suche und Befehle
shortcut-panel = Seitenleiste zeigen oder ausblenden
shortcut-begin = Neue Unterhaltung
shortcut-rename = Markierte Unterhaltung umbenennen
shortcut-delete = Markierte Unterhaltung löschen
shortcut-list = Diese Tastenkürzel zeigen

## Agents

agent-user = Sie
agent-proxy = Vertreter
agent-coder = Programmierer
agent-toolsmith = Werkzeugmacher
agent-builder = Projektbauer

## Loading

loading = Lädt
part-not-loaded = Dieser Teil der Seite konnte nicht geladen werden.
try-again = Noch einmal versuchen
close = Schließen

## Values

value-table = Tabelle, { $count ->
    [one] { $count } Zeile
   *[other] { $count } Zeilen
  }, { $columns ->
    [one] { $columns } Spalte
   *[other] { $columns } Spalten
  }, { $size }
value-list = Liste, { $count ->
    [one] { $count } Eintrag
   *[other] { $count } Einträge
  }, { $size }
value-json = Objekt, { $count ->
    [one] { $count } Eintrag
   *[other] { $count } Einträge
  }, { $size }
value-text = Text, { $count } Zeichen, { $size }
value-number = Zahl
value-other = Wert, { $size }
value-show = Zeigen ({ $size })
value-not-loaded = Laden nicht möglich: { $message }.
value-copied = Wert
value-wide = Groß öffnen
value-view = Ansicht
value-filter = Zeilen filtern
value-found = { NUMBER($found) } von { $count ->
    [one] { $count } Zeile
   *[other] { $count } Zeilen
  }
value-no-rows = Keine Zeile enthält diese Wörter.
value-sort = Nach { $column } sortieren
value-as-csv = CSV
value-as-json = JSON
value-as-text = Text
view-table = Tabelle
view-chart = Diagramm
view-preview = Vorschau
view-source = Quelltext
number-exact = Genauer Wert
text-all = Alle { NUMBER($count) } Zeichen zeigen
text-more = Mehr zeigen (noch { $size }, { $count } Zeichen)
text-less = Weniger zeigen
tree-back = Zurück
tree-filter = Einträge filtern
tree-open-all = Alle öffnen
tree-close-all = Alle schließen
tree-nothing = Kein Eintrag enthält diesen Text.
tree-rows = { $count ->
    [one] { $count } Zeile
   *[other] { $count } Zeilen
  }
tree-items = { $count ->
    [one] { $count } Element
   *[other] { $count } Elemente
  }
tree-members = { $count ->
    [one] { $count } Eintrag
   *[other] { $count } Einträge
  }
changes-none = Nichts geändert.
changes-same = { $count ->
    [one] { $count } unveränderte Zeile
   *[other] { $count } unveränderte Zeilen
  }

## Files

files-made = Dateien, die das Werkzeug erstellt hat
file-open = { $name } öffnen
file-download = { $name } herunterladen
file-before = Vorige Datei
file-after = Nächste Datei
file-of = { NUMBER($index) } von { NUMBER($count) }
file-empty = Die Datei ist leer.
file-not-text = Die Datei ist kein Text; zum Öffnen herunterladen.
file-too-large = Die Datei ist zu groß, um hier gezeigt zu werden; bitte herunterladen.
file-not-json = Die Datei ist kein gültiges JSON: { $message }
file-table = { $count ->
    [one] { $count } Zeile
   *[other] { $count } Zeilen
  }, { $columns ->
    [one] { $columns } Spalte
   *[other] { $columns } Spalten
  }
picture-zoom = Vergrößerung
picture-larger = Größer
picture-smaller = Kleiner
picture-fits = Passend
picture-failed = Das Bild kann nicht gezeigt werden; zum Öffnen herunterladen.
notebook-cells = Zellen des Notebooks
notebook-cell = Zelle { NUMBER($number) }
notebook-output = Ausgabe von Zelle { NUMBER($number) }
notebook-more = { $count ->
    [one] { $count } weitere Zelle; das Notebook herunterladen, um sie zu sehen.
   *[other] { $count } weitere Zellen; das Notebook herunterladen, um sie zu sehen.
  }
notebook-problem = Das ist kein Notebook: { $message }

## Running a tool

execution-tool = Werkzeug
execution-server = Server
execution-arguments = Argumente
execution-made = Erstellt
execution-refused = Abgelehnte Dateien
execution-printed = Was es ausgegeben hat
execution-result = Ergebnis
execution-empty = (leer)
execution-shortened = gekürzt
execution-raised = Ausgelöst
execution-error = Fehler
execution-traceback = Aufrufliste
execution-ended = Von der Sandbox beendet
execution-reason = Grund

## Charts

chart-of = Diagramm: { $what }
chart-what = { $form ->
    [bar] Balken
    [scatter] Punkte
   *[line] Linien
  } über { NUMBER($count) } Stellen, von { $first } bis { $last }. Die Pfeiltasten lesen die Werte.
chart-points = Werte des Diagramms
chart-part = { $drawn } von { $of } Zeilen gezeichnet
chart-as-table = Als Tabelle zeigen
chart-show = Als Diagramm zeigen
chart-form = Form
chart-line = Linien
chart-bar = Balken
chart-scatter = Punkte
chart-across = Waagerecht
chart-columns = Gezeichnete Spalten
chart-row-number = Zeilennummer
chart-gap = kein Wert
## Why a turn failed

cause-budget = Ein Limit wurde erreicht
cause-budget-calls = Die Grenze von { $limit } Modellaufrufen ist erreicht
cause-budget-tokens = Die Grenze von { $limit } Token ist erreicht
cause-budget-seconds = Die Grenze von { $limit } Sekunden ist erreicht
cause-budget-cost = Die Grenze von { $limit } US-Dollar ist erreicht
cause-budget-steps = Die Grenze von { $limit } Schritten ist erreicht
remedy-budget = Weniger verlangen oder die Grenze in den Einstellungen anheben.
remedy-budget-steps = Den Bau fortsetzen oder ihm mehr Schritte erlauben.
cause-budget-month = Die Grenze dieses Monats von { $limit } US-Dollar ist erreicht
remedy-budget-month = Die Grenze des Monats in den Einstellungen erhöhen oder ein Modell wählen, das nichts kostet.
cause-model = Das Modell gab keine brauchbare Antwort
cause-model-unreachable = { $server } ist nicht erreichbar
cause-model-slow = { $server } brauchte zu lange für eine Antwort
cause-model-interrupted = Die Antwort brach ab: { $server }
cause-model-failing = { $server } antwortet mit einem Fehler
cause-model-overloaded = { $server } bekommt zu viele Anfragen
cause-model-no_access = { $server } verweigert den Zugang
cause-model-no_quota = Das Guthaben des Kontos ist aufgebraucht: { $server }
cause-model-unknown_model = { $server } hat kein Modell namens { $model }
cause-model-no_model_server = { $server } antwortet nicht wie ein Modellserver
cause-model-rejected = { $server } lehnt die Anfrage ab
cause-model-too_long = Die Anfrage ist zu lang für { $model }
cause-model-declined = Abgelehnt: { $model }
cause-model-unusable = Die Antwort ist nicht brauchbar: { $model }
remedy-model = Noch einmal versuchen oder in den Einstellungen ein anderes Modell wählen.
remedy-model-unreachable = Prüfen, ob der Server läuft, oder in den Einstellungen einen anderen wählen.
remedy-model-slow = Noch einmal versuchen, ein schnelleres Modell wählen oder ihm in den Einstellungen mehr Zeit lassen.
remedy-model-interrupted = Noch einmal versuchen.
remedy-model-failing = Später noch einmal versuchen oder den Server und seine Adresse in den Einstellungen prüfen.
remedy-model-overloaded = Etwas warten, dann noch einmal versuchen.
remedy-model-no_access = Den Schlüssel in den Einstellungen prüfen.
remedy-model-no_quota = Tarif und Zahlung des Kontos prüfen oder in den Einstellungen einen anderen Server wählen.
remedy-model-unknown_model = In den Einstellungen ein Modell des Servers wählen.
remedy-model-no_model_server = Die Adresse in den Einstellungen prüfen; meist endet sie auf /v1.
remedy-model-rejected = In den Einstellungen ein anderes Modell wählen; der Test dort zeigt, was es kann.
remedy-model-too_long = Weniger verlangen, eine neue Unterhaltung beginnen oder ein Modell wählen, das mehr aufnimmt.
remedy-model-declined = Mit anderen Worten versuchen.
cause-sandbox = Die Sandbox ist gescheitert
cause-sandbox-missing = Es gibt keine Sandbox, in der Code laufen kann
remedy-sandbox = Noch einmal versuchen. Scheitert es wieder, nennen die Einzelheiten die Ursache.
remedy-sandbox-missing = Die Einzelheiten sagen, was auf diesem Rechner fehlt.
cause-library = Die Bibliothek ist gescheitert
cause-library-name = Ein Werkzeug kann nicht so heißen
cause-library-exists = Ein Werkzeug namens { $name } gibt es schon
cause-library-missing = { $name } ist nicht in der Bibliothek oder nicht in dieser Version
cause-library-modified = Die Dateien von { $name } sind anders als die getesteten
cause-library-frozen = { $name } ist eingefroren
cause-library-conflict = { $name } hat sich inzwischen geändert
cause-library-in_the_way = { $file } ist im Weg: Die Datei gehört zu keinem Werkzeug
cause-library-unfinished = { $name } ist noch nicht vollständig gespeichert
remedy-library = Noch einmal versuchen. Scheitert es wieder, nennen die Einzelheiten die Ursache.
remedy-library-name = Einen anderen Namen wählen.
remedy-library-exists = Einen anderen Namen wählen oder erst das andere Werkzeug entfernen.
remedy-library-missing = In der Bibliothek danach suchen.
remedy-library-modified = Die Dateien wiederherstellen; wie die Änderung bleibt, steht in den Einzelheiten.
remedy-library-frozen = In der Bibliothek auftauen, dann noch einmal fragen.
remedy-library-conflict = Die neueste Version ansehen, dann noch einmal versuchen.
remedy-library-in_the_way = Die Datei verschieben oder einen anderen Namen wählen.
remedy-library-unfinished = Etwas warten, dann noch einmal versuchen.
cause-request = Der Server nimmt das nicht an
cause-request-missing = Das ist nicht mehr hier
cause-request-busy = { $name } ist beschäftigt
cause-request-full = Für mehr ist gerade kein Platz
cause-request-name = „{ $name }“ kann kein Dateiname sein
cause-request-folder = Dieser Ordner darf nicht beobachtet werden
cause-request-too_large = Das ist zu viel auf einmal
cause-request-running = Es läuft noch
cause-request-unfinished = Nur ein Plan, dessen Schritte alle ein Werkzeug benutzt haben, lässt sich speichern
cause-request-settings = Einige Werte gehen nicht
cause-request-conflict = Etwas Neueres ist an diese Stelle getreten
cause-request-modified = Die Datei wurde nach dem Unterschreiben verändert
cause-request-limits = Ein Aufruf des Werkzeugs bräuchte { $amount } und bekommt hier höchstens { $most } ({ $setting ->
    [memory] ein Viertel des Arbeitsspeichers
   *[other] { $setting }
  })
remedy-request = Die Einzelheiten nennen die Ursache.
remedy-request-missing = Vielleicht wurde es in einem anderen Fenster gelöscht. Die Seite neu laden oder die Dateien noch einmal senden.
remedy-request-busy = Warten, bis die andere Aktion fertig ist, oder sie anhalten.
remedy-request-full = Warten, bis etwas fertig ist, oder etwas entfernen.
remedy-request-name = Die Datei umbenennen.
remedy-request-folder = Nehmen Sie ihn in WATCHED_FOLDERS auf, in den Einstellungen des Servers.
remedy-request-too_large = Weniger oder weniger Dateien senden.
remedy-request-running = Das Ende abwarten.
remedy-request-unfinished = Stattdessen in einer einzigen Anfrage danach fragen.
remedy-request-settings = Bitte berichtigen; geändert wurde nichts.
remedy-request-conflict = Noch einmal ansehen, dann die Änderung wiederholen.
remedy-request-limits = Nach weniger auf einmal fragen.
remedy-request-modified = Beim Urheber neu besorgen und diese nicht verwenden.
cause-task = Nicht erledigt
cause-task-frozen = { $name } ist eingefroren, und die Anfrage braucht eine Änderung daran
remedy-task = Mit anderen Worten oder in kleineren Teilen versuchen.
remedy-task-frozen = In der Bibliothek auftauen, dann noch einmal fragen.
cause-internal = Hier ist etwas kaputt
cause-internal-interrupted = Es wurde unterbrochen und kann nicht weitergehen
cause-internal-database = Die Datenbank lässt sich nicht benutzen
cause-internal-embedder = Die Suche nach Bedeutung funktioniert nicht
cause-internal-setting = Eine Einstellung des Servers geht nicht
cause-internal-silent = Der Server ist beschäftigt oder wird beendet
cause-internal-unsaved = Die Unterhaltung lässt sich gerade nicht speichern
cause-internal-consent = { $name } braucht Ihre Zustimmung, die mitten in einer größeren Aufgabe nicht erfragt werden kann
remedy-internal = Noch einmal versuchen. Scheitert es wieder, nennen die Einzelheiten die Ursache.
remedy-internal-unsaved = Es geht von selbst weiter, sobald das Speichern wieder klappt.
remedy-internal-consent = In der Bibliothek erlauben, dann noch einmal fragen.
named-server = Der Server des Modells
named-model = das Modell
named-name = Dies
problem-details = Einzelheiten
cause-raised = Das Werkzeug warf { $type }
cause-at-specify = Das geht noch nicht
cause-at-test = Es entstanden keine brauchbaren Tests
cause-at-implement = Es entstand kein brauchbarer Code
cause-at-verify = Die Tests schlugen immer wieder fehl
cause-at-clarify = Etwas fehlt noch immer
cause-at-plan = Ein Schritt des Plans ist gescheitert
cause-at-building = Das Projekt wurde nicht fertig
cause-at-internal = Hier ist etwas kaputt
cause-at = { $step } ist gescheitert
cause-other = Nicht erledigt
remedy-at-clarify = Alles in einer einzigen Anfrage sagen.
remedy-at-implement = Genauer beschreiben, was gebraucht wird.
remedy-at-verify = Genauer beschreiben, was gebraucht wird.
remedy-at-building = Den Bau fortsetzen oder das Ziel ändern.
remedy-raised = Die Eingabe ändern oder sagen, wie solche Eingaben zu behandeln sind.
remedy-killed = Noch einmal versuchen, mit weniger auf einmal.
remedy-refused = Um eine kleinere Datei oder eine andere Art bitten.
reached-specify = Die Spezifikation steht.
reached-test = Spezifikation und Tests stehen.
reached-verify =
    { $total ->
        [one] Spezifikation und Tests stehen, und die beste Implementierung besteht { $passed } von { $total } Test.
       *[other] Spezifikation und Tests stehen, und die beste Implementierung besteht { $passed } von { $total } Tests.
    }
stopped-by-server = Der Server wurde beendet oder unterbrochen.

## States of a step

state-running = läuft
state-done = fertig
state-failed = fehlgeschlagen
state-stopped = gestoppt
state-declined = abgelehnt
state-waiting = wartet

## Die Aktivität: die Schritte einer Anfrage

activity = Aktivität
activity-steps = Schritte
activity-earlier = Frühere Anfrage
activity-later = Spätere Anfrage
activity-turn = Anfrage { $number } von { $count }
activity-place = { $number } von { $count }
activity-more = Mehr zur Aktivität
steps-expand = Alle öffnen
steps-collapse = Alle schließen
errors-only = Nur Fehler
errors-shown = Nur, was fehlgeschlagen ist.
errors-none = Nichts ist fehlgeschlagen.
errors-all = Alles zeigen
feed-search = In diesen Schritten suchen
feed-search-close = Suche beenden
feed-found =
    { $count ->
        [0] Nicht gefunden
       *[other] { $at } von { $count }
    }
feed-before = Vorherige Stelle
feed-after = Nächste Stelle
graph = Graph der Stufen
graph-not-shown = Der Graph kann nicht gezeigt werden
progress = Fortschritt
progress-again = { $stage } ×{ $attempt }
step-attempt = { $number }. Versuch
step-link = Link zu diesem Schritt: { $step }
step-link-title = Link zu diesem Schritt
decided-steps = Dafür sind mehrere Schritte nötig.
decided-delegate = Das ist Arbeit für Agenten.
decided-answer = Dafür ist kein Werkzeug nötig.
decided-question = Erst ist etwas zu fragen.
decided-impossible = Das geht hier nicht.
outcome-answered = beantwortet
outcome-asked = Rückfrage
outcome-declined = abgelehnt
outcome-failed = fehlgeschlagen
outcome-stopped = gestoppt
outcome-found = { $tool }, { $share } sicher
outcome-closest = Am nächsten kommt { $tool }. { $reason }
outcome-lessons =
    { $count ->
        [one] { $count } Lehre für: { $stage }
       *[other] { $count } Lehren für: { $stage }
    }
outcome-tests =
    { $count ->
        [one] { $count } Test geschrieben
       *[other] { $count } Tests geschrieben
    }
outcome-stub =
    { $total ->
        [one] der einzige scheitert, wie er soll
       *[other] alle { $total } scheitern, wie sie sollen
    }
outcome-caught =
    { $mutants ->
        [one] { $killed } von { $mutants } eingebauten Fehler erkannt
       *[other] { $killed } von { $mutants } eingebauten Fehlern erkannt
    }
outcome-altered =
    { $tried ->
        [one] { $noticed } von { $tried } verändertem Ergebnis bemerkt
       *[other] { $noticed } von { $tried } veränderten Ergebnissen bemerkt
    }
outcome-compared = { $passed } von { $total } Kandidaten sind richtig
outcome-registered = { $name } ist in der Bibliothek, Version { $version }
outcome-plan =
    { $total ->
        [one] { $done } von { $total } Schritt fertig
       *[other] { $done } von { $total } Schritten fertig
    }
outcome-returned = { $tool } → { $value }
value-missing = Ein Wert fehlt
outcome-mismatch = { $tool }: { $problem }
outcome-of-file = { $path }: { $what }
handed-to = Übergeben an: { $agent }
handed-to-user = An Sie übergeben
handed-to-proxy = An den Vertreter übergeben
handed-to-coder = An den Programmierer übergeben
handed-to-toolsmith = An den Werkzeugmacher übergeben
handed-to-builder = An den Projektbauer übergeben
agent-reply = Antwort
lessons-for = Lehren aus früheren Anfragen, gezeigt für: { $stage }
mismatch-ask = Sie werden nach dem gefragt, was fehlt.
mismatch-synthesize = Stattdessen wird ein neues Werkzeug geschrieben.
failed-at = Hier ging es nicht weiter: { $step }
failed-at-above = Hier ging es nicht weiter: { $step }, siehe oben.
what-to-do = Was hilft: { $remedy }
why = Warum
gives = ergibt
confidence = { $share } sicher
understood-as = Verstanden als: { $request }
candidates-other = Andere ähnliche
candidates-closest = Am nächsten
candidates-more = { $count } weitere
plan = Schritte des Plans
plan-needs =
    { $count ->
        [one] nutzt das Ergebnis von { $steps }
       *[other] nutzt die Ergebnisse von { $steps }
    }
budget-spent = Bisher verbraucht:

## Was ein Werkzeug tun soll, seine Tests und sein Code

specification-json = Spezifikation als JSON
specification-signature = Signatur
specification-returns = ergibt
specification-errors = Fehler
specification-yours = Aus Ihrer Anfrage, zählt immer:
specification-examples = Beispiele
tests-passed = { $passed } von { $total } bestanden
tests-passed-failed = { $passed } von { $total } bestanden, { $failed } fehlgeschlagen
stub-failed =
    { $total ->
        [one] Der einzige Test scheitert ohne Implementierung, wie er soll.
       *[other] Alle { $total } Tests scheitern ohne Implementierung, wie sie sollen.
    }
stub-passed =
    { $passed ->
        [one] { $passed } von { $total } Tests besteht ohne Implementierung und prüft also nichts.
       *[other] { $passed } von { $total } Tests bestehen ohne Implementierung und prüfen also nichts.
    }
repeats-same = Noch einmal in anderer Reihenfolge ({ $orders }): dasselbe Ergebnis.
repeats-other = Noch einmal in anderer Reihenfolge ({ $order }): { $detail }.
order-reversed = umgekehrt
order-shuffled = gemischt
test-passed = bestanden
test-failed = fehlgeschlagen
test-error = Fehler
test-skipped = übersprungen
test-dropped = verworfen
test-why = Warum { $name } nicht bestanden ist
code-suite = Testreihe
code-show = Anzeige
view-changes = Änderungen
view-whole = Ganzer Code
code-changes-of = Änderungen am vorigen Versuch
candidates = Kandidaten
candidate =
    { $draws ->
        [one] Kandidat { $number }
       *[other] Kandidat { $number } ({ $draws }-mal geschrieben)
    }
candidate-passes =
    { $total ->
        [one] besteht { $passed } von { $total } Test
       *[other] besteht { $passed } von { $total } Tests
    }
candidate-differs = besteht die Tests, gibt aber andere Werte zurück als die meisten
candidate-where = Wo { $name } abweicht
candidate-code = Der Code
candidate-code-of = Code: { $name }
difference-others = die meisten: { $value }
difference-own = dieser: { $value }
dropped-label = Verworfene Tests
dropped-tests =
    { $count ->
        [one] { $count } Test verworfen, weil ihm die meisten Kandidaten widersprechen:
       *[other] { $count } Tests verworfen, weil ihnen die meisten Kandidaten widersprechen:
    }
dropped-by =
    { $total ->
        [one] { $against } von { $total } Kandidat dagegen
       *[other] { $against } von { $total } Kandidaten dagegen
    }
dropped-why = Warum Kandidaten { $test } nicht bestehen
survivors =
    { $count ->
        [one] { $count } eingebauten Fehler zeigen, den kein Test erkennt
       *[other] { $count } eingebaute Fehler zeigen, die kein Test erkennt
    }
survivor-line = Zeile { $line }
survivor-in = Der eingebaute Fehler in Zeile { $line }

## Parts that a start sets up

part-search = Suche nach Bedeutung
part-sandbox = Die Sandbox
part-tools = Mitgelieferte Werkzeuge
progress-search = Suche nach Bedeutung: { $done } von { $total }
progress-sandbox = Die Sandbox: { $done } von { $total }
progress-tools = { $done } von { $total } mitgelieferten Werkzeugen
waits-for-search = Dann findet die Anfrage Werkzeuge nach ihrer Bedeutung
waits-for-sandbox = Nur dort läuft Code
waits-for-tools = Eines davon kann es vielleicht oder dient einem neuen Werkzeug

## Sandboxes

backend-docker = einem Docker-Container
backend-bubblewrap = einem bubblewrap-Container
backend-other = einem Container

## Conversations

conversations = Unterhaltungen
conversations-search = Unterhaltung suchen
conversations-pinned = Angeheftet
conversations-today = Heute
conversations-yesterday = Gestern
conversations-week = Letzte 7 Tage
conversations-month = Letzte 30 Tage
conversations-found = Gefunden
conversations-none-found = Keine Unterhaltung enthält diese Wörter.
conversation-new = Neue Unterhaltung
conversation-untitled = Ohne Titel
conversation-title = Titel der Unterhaltung
conversation-running = läuft
conversation-unread = ungelesen
conversation-actions = Aktionen: { $title }
conversation-rename = Umbenennen
conversation-pin = Anheften
conversation-unpin = Lösen
conversation-markdown = Als Markdown exportieren
conversation-json = Als JSON exportieren
conversation-delete = Löschen
conversation-deleted = Gelöschte Unterhaltung
conversation-deleted-title = Gelöscht: „{ $title }“
conversation-undo = Rückgängig
conversation-dismiss = Ausblenden
conversation-missing = Diese Unterhaltung ist nicht da.
conversation-deleted-told = Unterhaltung gelöscht. „Rückgängig“ stellt sie wieder her.

## Zahlen

usage-calls =
    { $count ->
        [one] { $count } Modellaufruf
       *[other] { $count } Modellaufrufe
    }
usage-tokens =
    { $count ->
        [one] { $count } Token
       *[other] { $count } Tokens
    }
budget-calls =
    { $limit ->
        [one] { $spent } von { $limit } Modellaufruf
       *[other] { $spent } von { $limit } Modellaufrufen
    }
budget-tokens =
    { $limit ->
        [one] { $spent } von { $limit } Token
       *[other] { $spent } von { $limit } Tokens
    }
budget-seconds = höchstens { $limit } s
budget-cost = { $spent } von { $limit }

## Ansagen

told-not-sent = Nicht gesendet: { $error }
told-not-possible = Nicht möglich: { $error }
told-request-removed = Anfrage entfernt.
told-attached = Angehängt: { $names }.
told-step-finished = { $step } fertig. { $text }
told-step-failed = { $step } gescheitert. { $text }
told-plan =
    { $count ->
        [one] Es braucht { $count } Schritt.
       *[other] Es braucht { $count } Schritte.
    }
told-plan-step-finished = Schritt { $step } fertig: { $text }
told-plan-step-failed = Schritt { $step } gescheitert: { $text }
told-delegation-started = { $sender } an { $recipient }: { $text }
told-delegation-finished = { $recipient } antwortet: { $text }
told-delegation-failed = { $recipient } ist gescheitert: { $text }
told-queued = Wartet auf Platz { NUMBER($place) } der Warteschlange.
told-asked-again = Das Modell hat nicht geantwortet; es wird erneut gefragt, Versuch { NUMBER($attempt) }.
told-silent = Das Modell schweigt seit { NUMBER($seconds) } Sekunden.
told-waiting = Wartet auf die Einrichtung: { $part }.
told-searching = Die Bibliothek wird durchsucht.
told-found = Werkzeug gefunden: { $tool }.
told-none-found = Kein Werkzeug gefunden; eines wird geschrieben.
told-lessons = Lehren aus früheren Anfragen: { $lessons }
told-running = { $tool } läuft.
told-run-failed = { $tool } ist gescheitert.
told-made = Erstellt: { $names }.
told-standing-provisional = { $tool } ist jetzt vorläufig.
told-standing-trusted = { $tool } ist jetzt bewährt.
told-standing-suspect = { $tool } ist jetzt verdächtig.
told-standing-retired = { $tool } ist jetzt zurückgezogen.
told-lacking = { $tool } braucht einen Wert: { $problem }
told-mismatch = { $tool } passt nicht: { $problem }
told-building = { $project } wird gebaut.
told-package-waits = Das Paket { $package } wartet auf Ihre Zustimmung.
told-action-waits = { $action } wartet auf Ihre Zustimmung.
told-ran = { $path } ist gelaufen.
told-ran-badly = { $path } ist gescheitert.
told-answered = Antwort: { $answer }
told-asked = Frage: { $answer }
told-declined = Nicht möglich: { $answer }
told-failed = Die Anfrage ist gescheitert: { $message }.
told-stopped = Angehalten. { $reason }
told-tool-added = Bibliothek: { $name } wurde aufgenommen.
told-tool-removed = Bibliothek: { $name } wurde entfernt.
told-tool-modified = Bibliothek: { $name } wurde verändert.
told-tool-revised = Bibliothek: { $name } hat eine neue Version.
told-tool-trusted = Bibliothek: { $name } gilt jetzt als bewährt.
told-tool-retired = Bibliothek: { $name } wurde zurückgezogen.
told-tool-restored = Bibliothek: { $name } wurde wiederhergestellt.
told-tool-kept_back = Bibliothek: { $name } behält eine alte Version eines Werkzeugs, das es importiert.

## Der Server

server-answered = der Server antwortete mit { $status }
conversation-unchanged = Die Unterhaltung wurde nicht geändert: { $error }.

## Die Seite, die nach dem Token fragt

login-title = Seite öffnen
login-how = Öffnen Sie den Link, den der Server beim Start ausgegeben hat, oder fügen Sie das Token daraus ein.
login-refused = Dieses Token öffnet die Seite nicht: Jeder Start des Servers erzeugt ein neues.
login-token = Zugangstoken
login-open = Öffnen
## The page itself
page-needs-javascript = Diese Seite braucht JavaScript.
page-skip = Zur Anfrage springen

## Links zu einer Unterhaltung, und was sie zeigen

share-menu = Teilen …
share-made = Der Link ist fertig.
share-copied = Kopiert
share-brand = Self-Engineering Agent
share-as-of = Geteilte Unterhaltung, Stand { $time }. Nur zum Lesen.
share-not-loaded = Sie konnte nicht geladen werden: { $reason }.
share-empty = Als der Link erstellt wurde, war noch keine Anfrage fertig beantwortet.
share-turns = Anfragen und Antworten
share-request = Anfrage
share-steps =
    { $count ->
        [one] { $count } Schritt
       *[other] { $count } Schritte
    }
share-foot = Von einem Agenten, der fehlende Werkzeuge selbst schreibt und testet. Antworten können falsch sein.
gone-title = Dieser Link führt zu nichts
gone-text = Er wurde widerrufen, ist abgelaufen oder unvollständig. Wer ihn geschickt hat, kann einen neuen erstellen.

## Projekte

projects = Projekte
projects-all = Alle { $count } zeigen
projects-fewer = Weniger zeigen
project-new = Neues Projekt
figures-files =
    { $count ->
        [one] { $count } Datei
       *[other] { $count } Dateien
    }
figures-invalid = { $count } ungültig
figures-tests =
    { $total ->
        [one] { $passed } von { $total } Testdatei besteht
       *[other] { $passed } von { $total } Testdateien bestehen
    }
figures-main-works = main.py läuft
figures-main-fails = main.py schlägt fehl
figures-stale = seit dieser Prüfung geändert
act-undone = Das war nicht möglich.
act-created = erstellt
act-edited = bearbeitet
act-deleted = gelöscht
act-unchanged = unverändert
act-changes = Änderungen an { $path }
act-passes = besteht
act-fails = schlägt fehl
act-output = Ausgabe
act-output-of = Ausgabe von { $path }
act-stdout = Standardausgabe
act-stderr = Standardfehler
act-exit-code = Rückgabewert { $code }
act-printed = Was es ausgab
act-refused = Abgelehnte Dateien

## The panel beside the conversation

panel-label = Aktivität, Bibliothek und Lehren
panel-tabs = Neben der Unterhaltung
panel-views = Ansichten
panel-chat = Chat
panel-project = Projekt
panel-activity = Aktivität
panel-library = Bibliothek
panel-lessons = Lehren
panel-show = Seitenleiste zeigen
panel-hide = Seitenleiste ausblenden
panel-beside = Wieder neben die Unterhaltung
panel-width = Breite der Seitenleiste
panel-width-how = Ziehen ändert die Breite, ein Doppelklick setzt sie zurück
code-wrap = Lange Zeilen umbrechen
code-copy = Kopieren: { $what }
code-all = Alle { $count } Zeilen zeigen
confirm-cancel = Abbrechen

## The library

kind-file = Nimmt eine Datei
order-name = Nach Namen
order-uses = Am häufigsten benutzt
order-newest = Neueste
order-last = Von Ihnen zuletzt benutzt
standing-provisional = vorläufig
standing-trusted = bewährt
standing-suspect = verdächtig
standing-retired = zurückgezogen
standing-title-provisional = Neu. Bewährt nach einigen verschiedenen erfolgreichen Aufrufen.
standing-title-trusted = Es hat mehreren verschiedenen Aufrufen gedient.
standing-title-suspect = Ein Dienst, den es fragt, antwortet anders als aufgezeichnet.
standing-title-retired = Die Suche bietet es nicht mehr an. Es lässt sich wiederherstellen.

## A tool

tool-limits = { $seconds ->
    [0] {""}
   *[other] Zeit eines Aufrufs: { $seconds } s.{" "}
}{ $memory ->
    [0] {""}
   *[other] Arbeitsspeicher: { $memory } MB.{" "}
}{ $space ->
    [0] {""}
   *[other] Temporäre Dateien: { $space } MB.
}
author-hand = von Hand
author-offline = vom Offline-Modell
author-model = von { $model }
version-tests-passed = { $total ->
    [one] { $total } Test bestanden
   *[other] { $total } Tests bestanden
}
version-tests = { $total ->
    [one] { $passed } von { $total } Test bestanden
   *[other] { $passed } von { $total } Tests bestanden
}
origin-created = erstellt
origin-edited = von Hand bearbeitet
origin-repaired = repariert
origin-repaired-from = repariert: { $failure }
origin-corrected = nach einem Einwand berichtigt
origin-extended = mit { $count ->
    [one] dem neuen Parameter
   *[other] den neuen Parametern
} { $parameters }
origin-rolled_back = zurückgesetzt auf Version { $to }
origin-requirement_changed = benutzt Version { $version } von { $tool }
origin-merged = vereint mit Version { $version } von { $tool }
origin-refactored = { $factor }-mal so schnell
origin-imported = importiert aus { $file }, signiert von { $name }
origin-imported-unknown = importiert aus { $file }, mit unbekanntem Schlüssel signiert
origin-imported-unsigned = importiert aus { $file }, nicht signiert

## The state of model, sandbox and library

page-name = Self-Engineering Agent
status-label = Status
status-ready = Bereit
status-model = Modell
status-sandbox = Sandbox
status-library = Bibliothek
status-model-checking = Modell wird geprüft
status-model-offline = Offline-Modell
status-model-offline-text = Kein Modellserver ist gewählt, deshalb arbeitet ein eingebauter mit einem festen Kochbuch. Er baut echte Werkzeuge und führt sie aus, sagt aber bei allem anderen, dass er es nicht weiß.
local-title = Modellserver auf diesem Rechner
local-model = Modell von { $server }
local-use = Verwenden
local-use-this = { $model } von { $server } verwenden
local-look = Modellserver auf diesem Rechner suchen
local-again = Noch einmal suchen
local-none = Keiner gefunden. Ollama, LM Studio, llama.cpp, vLLM oder Jan starten und ein Modell laden.
status-model-gone = Nicht erreichbar
status-model-refused = Zugriff verweigert
status-model-at = Kommt von { $server }.
status-model-again = Der nächste Versuch kommt mit der nächsten Anfrage, und alle paar Sekunden, solange diese Seite offen ist.
status-sandbox-checking = Sandbox wird geprüft
status-sandbox-preparing = Wird eingerichtet
status-sandbox-preparing-title = Sandbox wird eingerichtet
status-sandbox-preparing-text = Die Sandbox wird eingerichtet. Anfragen, die sie brauchen, warten.
status-sandbox-available = Bereit
status-sandbox-available-title = Sandbox bereit
status-sandbox-available-text = Erzeugter Code läuft in { $backend }, nie auf diesem Rechner selbst.
status-sandbox-unavailable = Nicht verfügbar
status-sandbox-unavailable-title = Keine Sandbox
status-sandbox-unavailable-text = Ohne Sandbox wird kein Werkzeug geschrieben oder ausgeführt. Seite und Bibliothek funktionieren weiter.
status-sandbox-limits = Was sie nicht garantiert
lacks-kernel = Container teilen den Kernel ihres Rechners: Eine Lücke darin ist eine Lücke der Sandbox.
lacks-limits = Prozesse und Dateien begrenzt der Zahl nach nur der Speicher, den sie brauchen.
lacks-system = Code kann die Programme und Bibliotheken des Rechners lesen und sehen, wo die eigenen Ordner liegen.
lacks-user = Ein Weg aus einem Container führte zu den Rechten des Benutzers, unter dem der Server läuft.
lacks-memory = Die Speichergrenze gilt streng nur für jeden einzelnen Prozess; alle zusammen werden zehnmal in der Sekunde geprüft.
lacks-pids = Die Zahl der Prozesse ist nicht begrenzt.
lacks-cpu = Code darf mehr als eine CPU benutzen, bis seine Zeit um ist.
status-library-checking = Bibliothek wird geprüft
status-library-text = Jedes Werkzeug hat seine eigenen Tests in der Sandbox bestanden, bevor es aufgenommen wurde.
library-search-ready = Die Suche nach Bedeutung funktioniert.
library-search-behind = Der Index der Suche entsteht noch; bis dahin wird jedes Werkzeug verglichen.
library-search-elsewhere = Ein anderes Programm hat den Index der Suche, deshalb wird jedes Werkzeug verglichen.
library-search-away = Der Server des Index antwortet nicht, deshalb wird jedes Werkzeug verglichen.
library-search-absent = Es gibt keinen Index, deshalb vergleicht die Suche jedes Werkzeug.
library-search-broken = Der Index lässt sich nicht öffnen, deshalb vergleicht die Suche jedes Werkzeug.
status-library-browse = Bibliothek ansehen
status-tools =
    { $count ->
        [one] { $count } Werkzeug
       *[other] { $count } Werkzeuge
    }
setting-up = Wird eingerichtet:
setting-up-waits = Anfragen können schon gesendet werden; sie warten auf das, was sie brauchen.
setting-up-failed = { $part }: noch nicht eingerichtet.
setting-up-again = Der Server versucht es wieder.
banner-reconnecting = Verbindung unterbrochen.
banner-reconnecting-remedy = Sie wird wiederhergestellt – nichts geht verloren.
banner-refused = Der Server wurde neu gestartet.
banner-refused-remedy = Öffnen Sie den neuen Link, den er ausgegeben hat.
banner-dismiss = Ausblenden

## Settings

settings-title = Einstellungen
settings-server-offline = Offline-Modell (eingebaut)
settings-server-openai = OpenAI
settings-server-ollama = Ollama
settings-server-lmstudio = LM Studio
settings-server-vllm = vLLM
settings-server-llamacpp = llama.cpp
settings-server-jan = Jan
settings-server-unnamed = Modellserver
settings-server-other = Andere Adresse
settings-problem-greater_than_equal = Mindestens { NUMBER($limit) }.
settings-problem-greater_than = Mehr als { NUMBER($limit) }.
settings-problem-less_than_equal = Höchstens { NUMBER($limit) }.
settings-problem-int_parsing = Eine ganze Zahl ist nötig.
settings-problem-int_from_float = Eine ganze Zahl ist nötig.
settings-problem-int_type = Eine ganze Zahl ist nötig.
settings-problem-float_parsing = Eine Zahl ist nötig.
settings-problem-finite_number = Eine Zahl ist nötig.
settings-problem-address = Eine Adresse wie http://localhost:11434/v1 ist nötig.
settings-problem-credentials = Ohne Passwort, Raute und ***; der Schlüssel hat sein eigenes Feld.
settings-problem-missing = Hier ist ein Schlüssel nötig.
settings-problem-fixed = Es ist außerhalb dieser Seite gesetzt; das geht vor.

## Other MCP servers

servers = Andere Server
consent-once = { $tool ->
    [pictures] Das Modell darf die Bilder einmal sehen.
   *[other] { $tool } ist einmal erlaubt.
}
consent-always = { $tool ->
    [pictures] Das Modell darf Bilder immer sehen.
   *[other] { $tool } ist immer erlaubt.
}
consent-no = { $tool ->
    [pictures] Es geht ohne das weiter, was die Bilder zeigen.
   *[other] Es geht ohne { $tool } weiter.
}
proposals = Warten auf Ihre Zustimmung
proposal-look = { $name } ansehen

### Loaded with what js/views/later.js has

## Settings

settings-save = Speichern
settings-saved = Gespeichert. Gilt für neue Anfragen.
settings-some-wrong = Einige Werte sind nicht möglich. Nichts wurde geändert.
settings-model = Modell
settings-server = Server
settings-address = Adresse des Servers
settings-about-offline = Arbeitet ohne Server, mit einem festen Kochbuch.
settings-about-openai = Der Dienst von OpenAI. Er braucht einen Schlüssel, und Anfragen kosten Geld.
settings-about-ollama = Die übliche Adresse auf dem Rechner, auf dem der Server dieser Seite läuft.
settings-about-lmstudio = Die übliche Adresse auf dem Rechner, auf dem der Server dieser Seite läuft.
settings-about-vllm = Die übliche Adresse auf dem Rechner, auf dem der Server dieser Seite läuft.
settings-about-llamacpp = Die übliche Adresse auf dem Rechner, auf dem der Server dieser Seite läuft.
settings-about-jan = Die übliche Adresse auf dem Rechner, auf dem der Server dieser Seite läuft.
settings-about-other = Jeder Server, der das Protokoll von OpenAI spricht; die Adresse endet meist auf /v1.
settings-key = Schlüssel
settings-key-set = Ein Schlüssel ist gesetzt
settings-key-none = Kein Schlüssel
settings-key-note = Er bleibt auf dem Server, geht nur an diesen Modellserver und wird nie wieder angezeigt.
settings-key-remove = Entfernen
settings-key-removed = Der Schlüssel wird beim Speichern entfernt.
settings-key-loses = Der gesetzte Schlüssel gehört zu einem anderen Server; Speichern entfernt ihn.
settings-name = Name des Modells
settings-models = Modelle des Servers
settings-models-note = Aus der Liste des Servers wählen oder einen beliebigen Namen schreiben.
settings-models-unknown = Der Server führt „{ $model }“ nicht auf.
settings-models-trouble = Die Liste konnte nicht geladen werden: { $problem }.
settings-test-begin = Testen
settings-test-stop = Test abbrechen
settings-test-note = Neun kurze Aufrufe mit dem, was oben steht. Nichts wird gespeichert.
settings-works = Geht:
settings-fails = Geht nicht:
settings-usable = Dieses Modell ist brauchbar.
settings-unusable = Dieses Modell ist nicht brauchbar.
settings-usable-cost = Eine Anfrage, die ein Werkzeug erledigt, braucht 2 Modellaufrufe, eine mit neuem Werkzeug 4 bis 6.
settings-wasted =
    { $count ->
        [one] Was der Server nicht beachtet, kostet { $count } weiteren Aufruf, bis das bekannt ist.
       *[other] Was der Server nicht beachtet, kostet { $count } weitere Aufrufe, bis das bekannt ist.
    }
settings-lacks = Es liefert keine { $lacks }.
ability-of-text = Texte
ability-of-value = Werte
ability-of-choice = Auswahl
ability-server-models = Führt dieses Modell auf
ability-text-stream = Text, Stück für Stück
ability-value-schema = Werte nach einem strengen Schema
ability-value-required = Werte durch einen Funktionsaufruf, den es machen muss
ability-value-named = Werte durch den Aufruf einer bestimmten Funktion
ability-value-words = Werte in Worten
ability-choice-required = Auswahl einer Funktion, die es aufrufen muss
ability-choice-auto = Auswahl einer Funktion, die es aufrufen darf
ability-choice-words = Auswahl in Worten
ability-sight-pictures = Sieht Bilder
settings-limits = Grenzen
settings-limits-note = Sie gelten für Anfragen, die nach dem Speichern beginnen. Ein leeres Feld nimmt den Wert, der darin steht.
settings-limits-of-turn = Für eine Anfrage
settings-limits-of-build = Für ein neues Werkzeug
settings-limits-of-server = Für eine Antwort
settings-limits-of-people = Für alle Anfragen zusammen
settings-limits-of-stored = Für gespeicherte Daten
settings-no-limit = keine Grenze
settings-turn_max_seconds = Sekunden
settings-turn_max_seconds-note = Danach macht eine Anfrage keinen weiteren Modellaufruf.
settings-turn_max_calls = Modellaufrufe
settings-turn_max_calls-note = So viele darf eine Anfrage machen.
settings-turn_max_tokens = Tokens
settings-turn_max_tokens-note = Gelesen und geschrieben, in einer Anfrage.
settings-turn_max_cost = US-Dollar
settings-turn_max_cost-note = So viel darf eine Anfrage kosten, wo der Preis bekannt ist.
settings-synthesis_candidates = Kandidaten
settings-synthesis_candidates-note = Zugleich geschrieben für ein neues Werkzeug; sie stimmen über die Tests ab. 1 bis 8.
settings-month_max_cost = US-Dollar im Monat
settings-month_max_cost-note = So viel dürfen die Anfragen aller in einem Kalendermonat kosten, wo Preise bekannt sind.
settings-keep_days = Tage, die eine Unterhaltung bleibt
settings-keep_days-note = Nach der letzten Anfrage; bei 0 bleibt sie, bis sie gelöscht wird. Angeheftete und Projekte bleiben.
settings-turns_max_running = Gleichzeitig
settings-turns_max_running-note = So viele Anfragen aller laufen gleichzeitig; weitere warten in einer Warteschlange.
settings-turns_max_per_person = Von einer Person
settings-turns_max_per_person-note = So viele laufen gleichzeitig. Alle, die das Zugangstoken haben, sind eine Person; eine Unterhaltung bekommt zwei Drittel davon.
settings-turns_max_waiting = In der Warteschlange
settings-turns_max_waiting-note = So viele Anfragen warten; weitere werden abgelehnt. Eine Person bekommt zwei Drittel davon.
settings-synthesis_max_repairs = Reparaturen
settings-synthesis_max_repairs-note = Eines neuen Werkzeugs, das seine Tests nicht besteht. 0 bis 20.
settings-openai_timeout = Geduld in Sekunden
settings-openai_timeout-note = Mit der Antwort des Modells, oder ihrem nächsten Stück.
settings-learns = Aus Anfragen lernen
settings-learns-note = Sucht im Hintergrund nach Lehren aus beendeten Anfragen; das braucht weitere Modellaufrufe.
settings-fixed-environment = Als { $name } gesetzt, wo der Server gestartet wurde; das geht vor. Dort entfernen, um es hier zu ändern.
settings-fixed-file = Als { $name } in der Datei .env gesetzt; das geht vor. Dort entfernen und neu starten, um es hier zu ändern.
settings-fixed-key = Der Schlüssel oder ein Header ist außerhalb dieser Seite gesetzt und geht nur an seinen eigenen Server.
settings-elsewhere = Anderswo gesetzt
settings-elsewhere-note = Das ist nicht zu ändern, während der Server läuft. Den angezeigten Namen in .env oder in der Umgebung setzen, dann neu starten.
secrets = Geheimnisse
secrets-note = Werkzeuge, denen Sie ein Geheimnis erlauben, senden es, ohne es zu sehen. Es bleibt verschlüsselt auf dem Server und wird nie wieder angezeigt. Ein Name hat Großbuchstaben, Ziffern und _; ein Wert hat mindestens 6 Zeichen.
secrets-name = Name, etwa GITHUB_TOKEN
secrets-value = Wert
secrets-save = Speichern
secrets-remove = Entfernen
secrets-remove-question = { $name } entfernen? Werkzeuge, die es verwenden, schlagen dann fehl.
secrets-again = Neu eingeben: Dieser Rechner hat keinen Schlüssel dafür.
oauth = Ein Token von einem Dienst holen
oauth-note = Für Dienste mit dem Device Flow von OAuth. Oben steht der Name, hier, was der Dienst über Ihr Programm sagt.
oauth-device_url = Adresse für Codes
oauth-token_url = Adresse für Tokens
oauth-client_id = Client-ID
oauth-client_secret = Client-Secret, falls nötig
oauth-scope = Scope, falls nötig
oauth-begin = Code holen
oauth-enter = Geben Sie diesen Code auf der Seite des Dienstes ein:
oauth-waiting = Wartet, bis Sie es erlauben
oauth-failed = Der Dienst hat keine Erlaubnis gegeben.
oauth-kept = { $name } ist gespeichert und wird erneuert, bevor es abläuft.
spending = Ausgaben
spending-month = Monat
spending-turns = Anfragen
spending-tokens = Tokens
spending-cost = Kosten
spending-saved = Gespart
spending-unknown = unbekannt
spending-none = Noch nichts ausgegeben.
spending-limit = In diesem Monat kosten die Anfragen aller { $spent } von { $limit }.
spending-tools = Nach Werkzeug, für alle
spending-tool = Werkzeug
spending-built = Gebaut für
spending-reuses = Erneut genutzt
spending-unbuilt = von keiner Anfrage gebaut
spending-unpaid = lohnt sich nicht
spending-tools-note = Jede erneute Nutzung spart, was der Bau des Werkzeugs brauchte, oder der eines durchschnittlichen, wo keine Anfrage es baute, abzüglich dessen, was die Anfrage brauchte. Was nach 30 Tagen weniger gespart als gebraucht hat, lohnt sich nicht; es lässt sich in der Bibliothek stilllegen.
spending-note = Eigene Anfragen. Gespart ist, was der Bau der erneut genutzten Werkzeuge gekostet hatte, abzüglich der Kosten dieser Anfragen. Wo ein Preis unbekannt ist, zählen nur Tokens.
data-title = Gespeicherte Daten
data-conversations = Unterhaltungen
data-files = Dateien
data-results = Werte, die Werkzeuge ergaben
data-links = Geteilte Links
data-proposals = Wartende Änderungen
data-grants = Erlaubte Hosts, Pakete und Grenzen
data-spending = Anfragen in den Ausgaben
data-lessons = Lehren aus eigenen Anfragen
data-projects = Projekte
data-secrets = Selbst eingegebene Geheimnisse
data-tools = Werkzeuge, ihre Versionen und der Suchindex
data-exchanges = Antworten von Diensten, für Tests aufgezeichnet
data-steps = Schritte laufender Anfragen
data-servers = Andere Server und was sie dürfen
data-settings = Einstellungen dieser Seite
data-keys = Schlüssel dieses Servers
data-parts = Modell, Pakete und Sandbox
data-backups = Sicherungen vor einer Wiederherstellung
data-system = Die Datenbank und ihre Pflege
data-all = Alles, was gespeichert ist
data-goes-all = „Meine Daten löschen“ löscht Ihre
data-goes-part = „Meine Daten löschen“ löscht, was nur von Ihnen kam
data-goes-none = „Meine Daten löschen“ lässt stehen
data-until-conversation = Mit der Unterhaltung.
data-until-deletion = Bis zum Löschen.
data-until-end = Bis der Link endet.
data-until-decision = Bis Sie entscheiden.
data-until-revocation = Bis zum Widerruf.
data-until-use = Solange sie gebraucht werden.
data-until-version = Solange eine Version sie braucht.
data-until-turn = Bis die Anfrage endet, oder einen Tag, nachdem sie gescheitert ist.
data-until-setup = Einen Tag länger als nötig.
data-until-server = Solange es den Server gibt.
data-not-stored = Protokolle gehen an die Ausgabe des Servers. Temporäre Dateien enden mit dem Aufruf, der sie angelegt hat.
data-kept = Eine Unterhaltung ohne neue Anfrage wird nach { $count } { $count ->
    [one] Tag
   *[other] Tagen
  } gelöscht, wenn sie nicht angeheftet ist.
data-kept-always = Unterhaltungen bleiben, bis sie gelöscht werden.
data-note = Dateien und Eingaben von Aufrufen gehen mit ihrer Unterhaltung.
data-delete = Meine Daten löschen
data-delete-question = Das beendet laufende Anfragen und löscht eigene Unterhaltungen, Projekte, Geheimnisse und Erlaubnisse sowie die Werkzeuge, die nur Sie gebaut und benutzt haben. Werkzeuge, die andere benutzen, bleiben mit Code und Tests, aber ohne Ihre Beispiele und aufgezeichneten Aufrufe. Einstellungen und Sicherungen bleiben. Es lässt sich nicht rückgängig machen.
settings-browser = Dieser Browser
settings-browser-note = Sprache, Farben und Benachrichtigungen gelten sofort und nur in diesem Browser.
settings-language = Sprache
settings-theme = Farben
choice-language-system = Wie der Browser
choice-language-en = English
choice-language-de = Deutsch
choice-theme-system = Wie das System
choice-theme-light = Hell
choice-theme-dark = Dunkel
notices-allow = Benachrichtigungen erlauben
notices-granted = Benachrichtigungen sind an: Eine lange Anfrage, die bei verborgenem Tab endet, wird gemeldet.
notices-denied = Der Browser blockiert Benachrichtigungen dieser Seite. Seine Website-Einstellungen können sie erlauben.
notices-default = Benachrichtigungen sind aus.
notices-missing = Benachrichtigungen brauchen HTTPS oder die Adresse dieses Rechners.
settings-of-sandbox = Sandbox
settings-why-sandbox = Laufende Container gehören dazu.
settings-of-run_seconds = Sekunden eines Laufs
settings-why-run_seconds = Vorbereitete Container haben diese Grenze schon.
settings-of-embedder = Suche nach Bedeutung
settings-why-embedder = Eine andere berechnet alle Vektoren der Bibliothek neu.
settings-of-database = Datenbank
settings-why-database = Die Unterhaltungen müssten umziehen.
settings-of-data = Daten
settings-why-data = In diesem Ordner sind offene Dateien, auch diese Einstellungen.
settings-of-tools = Werkzeuge
settings-why-tools = Die Bibliothek beobachtet diesen Ordner.
settings-of-index = Suchindex
settings-why-index = Der Index ist offen.
settings-of-address = Adresse dieser Seite
settings-why-address = Unter ihr ist diese Seite selbst erreichbar.
data-schedules = Zeitpläne
import-outcome-waits = wartet oberhalb der Werkzeuge auf Sie
import-receipt-missing = Die Datei hat keinen Beleg der Prüfung beim Autor.
import-receipt-reproduced = Die Prüfung hier ergibt, was der Beleg des Autors sagt.
import-receipt-differs = Die Prüfung hier weicht vom Beleg des Autors ab.
subscriptions = Abonnements
subscriptions-about = Folgen Sie den Werkzeugen, die eine andere Bibliothek veröffentlicht. Neue Versionen warten, bis Sie sie annehmen; nichts wird ersetzt.
subscriptions-check = Nach Updates sehen
subscriptions-none = Es gibt nichts Neues.
subscription-place = Adresse eines Verzeichnisses
subscription-add = Folgen
subscription-remove = Entfernen
subscription-remove-question = Diesem Verzeichnis nicht mehr folgen? Die Werkzeuge bleiben.
proposal-objections = Dieses Update weicht von Ihrer Version ab:
proposal-accept-anyway = Trotzdem annehmen
proposal-accept-anyway-of = Trotzdem annehmen: { $name }
data-subscriptions = Abonnements
tool-schedules = Pläne
schedules-none = Noch keine Zeitpläne
schedules-about = Ein Zeitplan führt diese Version des Werkzeugs zu festen Zeiten aus, ohne das Modell, solange der Server läuft.
schedules-new = Neuer Zeitplan
schedule-active = an
schedule-paused = angehalten
schedule-running = läuft
schedule-troubled = wartet auf Sie
schedule-needs-you = Der letzte Lauf wartet auf Sie, daher ist der Zeitplan angehalten
schedule-next = Nächste Läufe
schedule-last = Letzter Lauf
schedule-run = Jetzt ausführen
schedule-pause = Anhalten
schedule-resume = Fortsetzen
schedule-results = Ergebnisse
schedule-remove = Entfernen
schedule-remove-question = Diesen Zeitplan entfernen? Seine Ergebnisse bleiben in ihrer Unterhaltung.
schedule-every = Wie oft
schedule-every-hour = Jede Stunde
schedule-every-day = Jeden Tag
schedule-every-workday = Montag bis Freitag
schedule-every-week = Jede Woche
schedule-every-month = Jeden Monat
schedule-every-cron = Andere Zeiten, wie in cron
schedule-when-hook = Auf signierte Anfragen
schedule-weekday = Tag
schedule-day = Tag des Monats
schedule-time = Uhrzeit
schedule-cron = Minute, Stunde, Tag, Monat, Wochentag
schedule-timezone = Zeitzone
schedule-timezone-unknown = Keine Zeitzone heißt so; bitte eine aus der Liste wählen.
schedule-missed = Läufe, die verpasst wurden, als der Server aus war
schedule-missed-once = Einen nachholen
schedule-missed-skip = Auslassen
schedule-missed-all = Jeden nachholen
schedule-name = Name
schedule-add = Zeitplan hinzufügen
schedule-every-file = Wenn eine Datei in einen Ordner kommt
schedule-every-hook = Wenn eine signierte Anfrage kommt
schedule-when-file = Wenn { $pattern } in { $folder } erscheint
schedule-folder = Ordner auf dem Server
schedule-pattern = Welche Dateien
schedule-hook = Geheimnis, das die Anfragen signiert
schedule-deliver = Ergebnisse gehen auch an
schedule-deliver-none = keinen weiteren Ort
schedule-deliver-folder = einen Ordner des Servers
schedule-deliver-webhook = eine Webadresse
schedule-deliver-mail = eine E-Mail-Adresse
schedule-form = Form
schedule-url = Adresse
schedule-secret = Name des Geheimnisses
schedule-to = An
schedule-sender = Von
schedule-server = Mailserver
schedule-port = Port (465)
schedule-user = Benutzer, wenn nicht der Absender
schedule-delivered-folder = Ergebnisse gehen auch in den Ordner scheduled/{ $name }.
schedule-delivered-webhook = Ergebnisse gehen auch an { $to }.
schedule-delivered-mail = Ergebnisse gehen auch an { $to }.

## Zustand der Bibliothek

health-title = Zustand der Bibliothek
health-counts = { $tools ->
    [one] Ein Werkzeug
   *[other] { $tools } Werkzeuge
}, { $compared } davon liefen mit den Eingaben der anderen.
health-unmeasured = { $count ->
    [one] Die Tests eines Werkzeugs werden beim nächsten Mal gemessen.
   *[other] Die Tests von { $count } Werkzeugen werden die nächsten Male gemessen.
}
health-nothing = Es gibt nichts zu tun.
health-all = Alle { $count } zeigen
health-twins = Tun dasselbe
health-suspect = Dienst hat sich geändert
health-weak = Schwache Tests
health-slow = Langsam
health-never_used = Nie verwendet
health-stale = Lange nicht verwendet
health-unpaid = Lohnt sich nicht
health-one_person = Von einer Person verwendet
health-evidence-twins = Sie stimmen für { $inputs } Eingaben überein, { $recorded } davon aus früheren Antworten.
health-evidence-suspect = Ein Dienst, den es fragt, antwortet anders als aufgezeichnet.
health-evidence-weak = Seine Tests bemerken { $noticed } von { $tried } Änderungen am Code.
health-evidence-slow = Ein Aufruf dauert { $seconds } s, beim üblichen Werkzeug { $usual } s.
health-evidence-never_used = Niemand hat es in { $days } Tagen verwendet.
health-evidence-stale = Seit { $days } Tagen nicht verwendet; seine Version ist { $version_days } Tage alt.
health-evidence-unpaid = Der Bau brauchte { $built } Tokens; { $reuses ->
  [one] eine erneute Nutzung sparte
 *[other] { $reuses } erneute Nutzungen sparten
} { $saved }.
health-evidence-one_person = { $calls ->
    [one] Ein Aufruf
   *[other] { $calls } Aufrufe
}, alle von einer Person.
health-do-merge = Vereinen
health-do-retire = Zurückziehen
health-do-strengthen = Tests ergänzen
health-do-refactor = Beschleunigen
health-do-none = Öffnen
health-do-of = { $label }: { $name }
health-done-merge = { $duplicate } ist mit { $name } vereint. Suchen finden stattdessen { $name }.
health-done-retire = { $name } ist zurückgezogen. Suchen finden es nicht mehr.
health-waits = Die Vereinigung von { $duplicate } mit { $name } wartet auf Ihre Zustimmung.
tool-merged-into = Zurückgezogen. Suchen finden stattdessen

## Links zu einer Unterhaltung, und was sie zeigen

share-title = „{ $title }“ teilen
share-text = Wer den Link hat, kann diese Unterhaltung lesen, wie sie jetzt ist: Anfragen, Antworten, Ergebnisse, Dateien und die Schritte dazwischen. Was später geschieht, zeigt er erst, wenn er aktualisiert wird.
share-ends = Der Link endet
share-never = wenn er widerrufen wird
share-days =
    { $days ->
        [one] nach einem Tag
       *[other] nach { $days } Tagen
    }
share-create = Link erstellen
share-link = Link
share-copy = Kopieren
share-once = Jetzt kopieren: Er wird nicht noch einmal angezeigt.
share-local = Dieser Server ist nur auf diesem Rechner erreichbar, der Link also auch.
share-links = Links dieser Unterhaltung
share-none = Es gibt keinen Link zu dieser Unterhaltung.
share-made-at = Erstellt { $time }
share-shows = Zeigt die Unterhaltung vom { $time }.
share-ends-at = Endet { $time }.
share-stays = Gilt, bis er widerrufen wird.
share-renew = Aktualisieren
share-revoke = Widerrufen
share-renewed = Der Link zeigt die Unterhaltung, wie sie jetzt ist.
share-revoked = Der Link ist widerrufen und führt zu nichts mehr.

## Projekte

project-label = Projekt { $name }
project-door = Ein Projekt bauen
project-door-text = Ein Ordner mit Python-Dateien, der Schritt für Schritt auf ein Ziel hin wächst. Jede Änderung wird in der Sandbox getestet, und alles lässt sich jederzeit ausführen, bearbeiten und herunterladen.
project-goal = Ziel
project-goal-hint = Was soll es können?
project-examples = Zum Ausprobieren
project-examples-offline = Diese kennt das Offline-Modell
project-example-counter = Ein Kommandozeilenprogramm, das die Wörter einer Datei zählt
project-example-sales = Ein Bericht mit Diagramm über eine CSV-Datei mit Umsätzen
project-example-song = Eine Melodie als MIDI-Datei schreiben
project-name = Name
project-packages = Erlaubte Pakete
project-step-mode = Vor jedem Schritt fragen
project-limits = Grenzen
project-options = Pakete und Grenzen
project-max_steps = Schritte
project-max_calls = Modellaufrufe
project-max_tokens = Token
project-max_seconds = Sekunden
project-max_cost = US-Dollar
project-no-limit = ohne Grenze
project-build = Bauen
project-change = Was soll sich an { $name } ändern?
project-continue = Weiterbauen
project-continue-hint = Ohne Text geht es mit demselben Ziel weiter.
project-tabs = Verlauf und offene Dateien
project-history = Verlauf
project-files =
    { $count ->
        [one] { $count } Datei
       *[other] { $count } Dateien
    }
project-tree = Alle Dateien
project-no-files = Es gibt noch keine Dateien.
project-new-file = Neue Datei
project-new-path = Pfad der neuen Datei
project-unsaved = nicht gespeichert
project-changed = geändert
project-close-file = { $path } schließen
project-edit = Bearbeiten
project-download-file = { $path } herunterladen
project-delete-file = Datei löschen
project-delete-file-question = { $path } löschen? Eine Sicherung bleibt erhalten.
project-edit-conflict = Die Datei hat sich seit Beginn der Bearbeitung geändert. Speichern ersetzt diese Änderungen; eine Sicherung bleibt erhalten.
project-editor = Text von { $path }
project-save = Speichern
project-cancel = Abbrechen
project-run = main.py ausführen
project-test = Tests ausführen
project-download = Herunterladen
project-more = Weitere Aktionen: { $name }
project-not-shown = Dieses Projekt kann nicht angezeigt werden
project-request = Anfrage
project-by-hand = Von Hand
project-done =
    { $count ->
        [one] { $count } Schritt
       *[other] { $count } Schritte
    }
project-changed-files = Geänderte Dateien
project-steps = Schritte
project-stopped = Es lässt sich jederzeit weiterbauen; was gebaut wurde, bleibt.
project-waiting = Wartet auf Antwort
project-waits = Der Bau wartet
project-pause = Pause
project-pausing = Pausiert gleich
project-install = { $package } in der Sandbox dieses Projekts installieren?
project-approve = Installieren
project-refuse = Darauf verzichten
project-act = Diesen Schritt tun
project-act-on = Ohne Rückfragen weiter
project-restore = Sicherung wiederherstellen …
project-restore-title = { $name } wiederherstellen
project-restore-text = Die jetzigen Dateien werden die neueste Sicherung; es lässt sich also rückgängig machen.
project-backup = Sicherung { $number }
project-restore-it = Wiederherstellen
project-restore-number = Sicherung { $number } wiederherstellen
project-delete = Projekt löschen …
project-delete-title = { $name } löschen?
project-delete-text = Dateien, Sicherungen und Verlauf werden endgültig gelöscht. Das lässt sich nicht rückgängig machen.
project-delete-yes = Löschen
project-not-deleted = { $name } wurde nicht gelöscht: { $reason }.

## The library

library-label = Werkzeugbibliothek
library-search = Werkzeuge suchen
library-kind = Welche Werkzeuge die Liste zeigt
library-option = { $kind } ({ $count })
library-order = Reihenfolge
library-found = { $count ->
    [0] Nichts gefunden
    [one] { $count } Werkzeug gefunden
   *[other] { $count } Werkzeuge gefunden
}
library-request = für „{ $request }“
library-none-found = Kein Werkzeug passt zu „{ $search }“
library-none-found-text = In der Unterhaltung danach fragen, dann wird es gebaut.
library-none-of-kind = Kein Werkzeug dieser Art
library-more = Mehr zur Bibliothek
tool-more = { $name } exportieren
export-script = Python-Skript
export-skill = Agent Skill
export-bundle = Bündel für eine andere Bibliothek
export-library = Alle Werkzeuge exportieren
import-menu = Werkzeuge importieren…
import-title = Werkzeuge importieren
import-file = Bündel einer anderen Bibliothek (.zip)
import-refused = Diese Datei lässt sich nicht importieren
import-tools = Werkzeuge der Datei
import-requests = Gefunden durch Anfragen wie:
import-needs = Braucht { $needs }
import-code = Code und Tests von { $name }
import-words = Lesen Sie, was die Werkzeuge über sich sagen: Geprüft wird der Code, nicht die Worte, und das Modell liest diese Worte bei jeder Anfrage.
import-checking = { $count } von { $of } geprüft…
import-checked = { $of ->
    [one] Ein Werkzeug geprüft.
   *[other] { $of } Werkzeuge geprüft.
}
import-add = { $count ->
    [0] Nichts hinzuzufügen
    [one] Annehmen und ein Werkzeug hinzufügen
   *[other] Annehmen und { $count } Werkzeuge hinzufügen
}
import-added = { $count ->
    [0] Nichts wurde hinzugefügt.
    [one] Ein Werkzeug wurde hinzugefügt.
   *[other] { $count } Werkzeuge wurden hinzugefügt.
}
import-outcome-waiting = wird geprüft…
import-outcome-passed = besteht die Prüfung
import-outcome-present = schon vorhanden
import-outcome-refused = abgelehnt
import-refused-gate = Es hat die Prüfung nicht bestanden.
import-outcome-asks = noch nicht geprüft
import-packages = Die Prüfung installiert in der Sandbox Pakete aus dem Index: { $packages }
import-install = Installieren und prüfen
import-outcome-added = hinzugefügt
signer-own = Von dieser Instanz signiert.
signer-trusted = Signiert von { $name }; diesem Schlüssel vertrauen Sie.
signer-unknown = Signiert mit einem Schlüssel, dem Sie nicht vertrauen. Vergleichen Sie den Fingerabdruck mit dem des Autors:
signer-unsigned = Nicht signiert: Jeder kann diese Datei geschrieben oder geändert haben.
kind-all = Alle Werkzeuge
kind-mine = Von Ihnen benutzt
kind-built = Hier gebaut
kind-text = Nimmt Text
kind-number = Nimmt Zahlen
kind-list = Nimmt eine Liste
kind-dates = Rechnet mit Daten und Zeiten
kind-tables = Liest oder schreibt Tabellen
kind-charts = Zeichnet Diagramme
kind-retired = Zurückgezogen

## A tool

tool-overview = Überblick
tool-code = Code
tool-tests = Tests
tool-versions = Versionen
tool-code-of = Code von { $name }
tool-tests-of = Tests von { $name }
tool-signature = Signatur
tool-not-shown = Dieses Werkzeug kann nicht gezeigt werden
tool-not-possible = Das war nicht möglich
tool-run = Von Hand ausführen
tool-faster = Schneller machen
tool-about = Angaben
tool-version = Version
tool-used = Aufrufe
tool-uses = { $count ->
    [0] noch nicht benutzt
    [one] einmal benutzt
   *[other] { $count }-mal benutzt
}
tool-added = hinzugefügt
tool-author = geschrieben
tool-needs = Mit Ihrer Zustimmung
tool-network = Adressen
tool-network-allowed = erlaubt
tool-network-asks = fragt vorher
tool-exchanges = { $count ->
    [0] Von ihnen ist nichts aufgezeichnet.
    [one] Die Tests spielen { $count } aufgezeichnete Antwort ab.
   *[other] Die Tests spielen { $count } aufgezeichnete Antworten ab.
}
tool-witnesses = geprüft
tool-checked = { $of ->
    [0] von niemandem: Es sind keine anderen Kandidaten da
    [one] von einer anderen Implementierung
   *[other] von { $of } anderen Implementierungen
}
tool-origin = Herkunft
tool-digest = Prüfsumme
tool-after = Darauf folgt bei Ihnen oft
tool-together = Oft zusammen benutzt mit
uses-chart = { $unit ->
    [week] Ihre Aufrufe je Woche
   *[day] Ihre Aufrufe je Tag
}
uses-returned = Aufrufe
uses-failed = Fehlschläge
tool-retire = Zurückziehen
tool-retire-question = { $name } zurückziehen? Es wird erst wieder angeboten, wenn es wiederhergestellt ist.
tool-restore = Wiederherstellen
tool-restore-question = { $name } wiederherstellen? Die Suche bietet es wieder an, zunächst als vorläufig.
versions-not-shown = Die Versionen können nicht gezeigt werden
versions-compare = Vergleichen
versions-from = von
versions-to = bis
versions-not-compared = Diese Versionen können nicht verglichen werden
versions-code-changes = Änderungen am Code
versions-tests-changes = Änderungen an den Tests
version-title = Version { $number }
version-option = Version { $number }
version-in-use = in Gebrauch
version-roll-back = Zurückkehren
version-roll-back-question = { $name } auf Version { $to } zurücksetzen? Daraus wird Version { $next } für alle; keine Version geht verloren.
run-label = { $name } ausführen
run-run = Ausführen
run-needed = Wird gebraucht.
run-not-json = Kein gültiges JSON; Texte stehen in Anführungszeichen, etwa ["a", "b"].
run-or-file = oder eine Datei
run-type-default = { $type }, ohne Angabe { $preset }
type-text = Text
type-file = Name einer Datei
type-number = Zahl
type-whole = ganze Zahl
type-switch = ja oder nein
type-choice = eine Auswahl
run-choose = Auswählen
run-default = Ohne Angabe: { $preset }
run-done = { $time }; die Anfrage steht auch in der Unterhaltung

## Lessons

lessons-all = Alle Lehren
lessons-none = Noch keine Lehren
lessons-none-text = Aus Fehlschlägen, Reparaturen und Ihren Korrekturen werden Lehren, die der nächste ähnliche Versuch zu sehen bekommt.
lesson-for-specify = Spezifikation
lesson-for-test = Tests
lesson-for-implement = Implementierung
lesson-for-execute = Gebrauch von Werkzeugen
lesson-for-coder = Der Programmierer
lesson-for-proxy = Der Vertreter
lesson-edit = Bearbeiten
lesson-edit-of = Bearbeiten: { $trigger }
lesson-delete = Löschen
lesson-delete-question = Diese Lehre löschen?
lesson-save = Speichern
lesson-trigger = Wann sie gilt
lesson-advice = Was dann zu tun ist
lesson-unchanged = Die Lehre wurde nicht geändert: { $error }.
lesson-expired = abgelaufen
lesson-weight = Gewicht { $weight }
lesson-unused = noch nicht benutzt
lesson-no-effect = noch ohne Wirkung
lesson-effect = half { $helped }-mal, half { $failed }-mal nicht
lesson-evidence = { $count ->
    [one] aus { $count } Anfrage
   *[other] aus { $count } Anfragen
}

## Other MCP servers

servers-count =
    { $count ->
        [one] { $count } anderer Server
       *[other] { $count } andere Server
    }
server-idle = nicht verbunden
server-connecting = wird verbunden
server-connected = verbunden
server-failed = nicht verfügbar
server-problem-failed = Der Server lässt sich nicht benutzen.
server-problem-tools = Einige seiner Werkzeuge lassen sich nicht benutzen.
server-tool-allowed = immer erlaubt
server-tool-asks = fragt zuerst
server-tool-reads = liest nach eigener Angabe nur
proposal-new = neues Werkzeug
proposal-behaviour = Was sich ändert
proposal-sources = Code und Tests
proposal-edit = Code bearbeiten
proposal-calls = Was es zurückgibt:
proposal-compared = { $changed ->
    [0] Von { $compared } aufgezeichneten und erzeugten Eingaben, davon { $recorded } von Ihnen, ergibt keine etwas anderes.
    [one] Von { $compared } aufgezeichneten und erzeugten Eingaben, davon { $recorded } von Ihnen, ergibt 1 jetzt etwas anderes.
   *[other] Von { $compared } aufgezeichneten und erzeugten Eingaben, davon { $recorded } von Ihnen, ergeben { $changed } jetzt etwas anderes.
}
proposal-accept = Annehmen
proposal-accept-of = { $name } annehmen
proposal-refuse = Ablehnen
proposal-refuse-of = { $name } ablehnen
proposal-done-accept = { $name } ist angenommen.
proposal-done-refuse = { $name } ist abgelehnt.
tool-teach = Bearbeiten
tool-freeze = Einfrieren
tool-freeze-note = Keine automatische Reparatur ändert eine eingefrorene Version
teach-title = Lehren
teach-note = Jede Zeile wird ein Test der nächsten Version.
teach-add = Zeile hinzufügen
teach-row = Zeile { $number }
teach-open = (noch nicht geprüft)
teach-passed = (besteht)
teach-failed = (schlägt fehl)
teach-value = Richtiger Wert
teach-remove = Zeile { $number } entfernen
teach-correct = Korrigieren lassen
edit-save = Speichern
edit-saving = Das Tor prüft es.
edit-saved = { $name } hat jetzt Version { $version }.
edit-waits = { $name } wartet auf Ihre Zustimmung.
edit-nothing = Nichts ist geändert.
edit-checking = Wird getestet
edit-passed = { $count ->
    [one] 1 Test besteht.
   *[other] Alle { $count } Tests bestehen.
}
edit-failed = { $failed ->
    [one] Einer von { $count } Tests schlägt fehl.
   *[other] { $failed } von { $count } Tests schlagen fehl.
}
edit-problem = Es läuft nicht.
settings-asks = Vor Änderungen der Bibliothek fragen
settings-asks-note = Neue Werkzeuge und Versionen warten, bis Sie sie annehmen.
